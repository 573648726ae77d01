package kafka

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const (
	// joinEvery is the pause between heartbeats until there is an assignment, and after a failure.
	joinEvery = 150 * time.Millisecond
	// beatPatience is how long a heartbeat may take: the membership itself lasts for 45 s without one.
	beatPatience = 5 * time.Second
)

// membership is our place in the group (ShareGroupHeartbeat).
type membership struct {
	coordinator int32 // -1 when it is to be looked up
	epoch       int32
	joined      bool // the coordinator has taken us
	assigned    []int32
	beating     bool
	beatAt      time.Time
	failing     time.Time // since when the coordinator cannot be asked
	left        int       // how often leaving was tried
}

// beat sends a heartbeat when it is due.
func (s *sessionState) beat(now time.Time) {
	if s.beating || now.Before(s.beatAt) || s.topicID == (model.TopicID{}) || s.phase >= model.SessionLeaving {
		return
	}
	s.beating = true
	s.sendBeat(s.epoch, func(resp *kmsg.ShareGroupHeartbeatResponse, err error) {
		s.beating = false
		s.beaten(resp, err)
	})
}

// sendBeat sends a heartbeat to the coordinator, which is looked up when it is not known: franz-go goes on asking
// a coordinator that has moved or died.
func (s *sessionState) sendBeat(epoch int32, then func(*kmsg.ShareGroupHeartbeatResponse, error)) {
	node := s.coordinator
	s.do(func() func() {
		ctx, cancel := context.WithTimeout(s.life, beatPatience)
		defer cancel()
		var err error
		if node < 0 {
			node, err = s.findCoordinator(ctx)
		}
		var resp *kmsg.ShareGroupHeartbeatResponse
		if err == nil {
			req := kmsg.NewPtrShareGroupHeartbeatRequest()
			req.GroupID, req.MemberID, req.MemberEpoch = s.group, s.member, epoch
			if epoch == 0 {
				req.SubscribedTopicNames = []string{s.topic}
			}
			resp, err = askHeartbeat(ctx, s, node, req)
		}
		if err == nil {
			err = answered(kmsg.ShareGroupHeartbeat, s.group, resp.ErrorCode, resp.ErrorMessage)
		}
		return func() {
			if s.coordinator = node; err != nil && resp == nil || moves(err) {
				s.coordinator = -1
			}
			then(resp, err)
		}
	})
}

func askHeartbeat(ctx context.Context, s *sessionState, node int32, req *kmsg.ShareGroupHeartbeatRequest) (*kmsg.ShareGroupHeartbeatResponse, error) {
	resp, err := s.admin.Broker(int(node)).Request(ctx, req)
	if err != nil {
		return nil, err
	}
	return resp.(*kmsg.ShareGroupHeartbeatResponse), nil
}

func (s *sessionState) findCoordinator(ctx context.Context) (int32, error) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKeys = []string{s.group}
	resp, err := s.admin.Request(ctx, req)
	if err != nil {
		return -1, err
	}
	found := resp.(*kmsg.FindCoordinatorResponse).Coordinators
	if len(found) == 0 {
		return -1, kerr.CoordinatorNotAvailable
	}
	c := &found[0]
	return c.NodeID, answered(kmsg.FindCoordinator, s.group, c.ErrorCode, c.ErrorMessage)
}

// moves reports whether the error says that another broker is the coordinator now, or soon.
func moves(err error) bool {
	return errors.Is(err, kerr.CoordinatorLoadInProgress) || errors.Is(err, kerr.CoordinatorNotAvailable) || errors.Is(err, kerr.NotCoordinator)
}

// transient reports whether an error passes by itself: a connection that failed, or an answer that says so.
func transient(err error) bool {
	k, ok := errors.AsType[*kerr.Error](err)
	return !ok && !errors.Is(err, ErrReadOnly) || ok && k.Retriable && k != kerr.UnknownTopicOrPartition
}

// beaten takes the answer to a heartbeat.
func (s *sessionState) beaten(resp *kmsg.ShareGroupHeartbeatResponse, err error) {
	now := time.Now()
	s.beatAt = now.Add(joinEvery)
	s.joined = s.joined || err == nil
	if s.phase >= model.SessionLeaving {
		return
	}
	switch {
	case errors.Is(err, kerr.UnknownMemberID), errors.Is(err, kerr.FencedMemberEpoch):
		s.epoch, s.beatAt = 0, now // join again, at once
		return
	case err != nil:
		if s.membership.failing.IsZero() {
			s.membership.failing = now
		}
		switch {
		case moves(err):
		case transient(err):
			s.trouble(err)
			s.beatAt = now.Add(2 * joinEvery)
		case !s.joined:
			code, text := s.conn.Explain(err)
			s.fail(code, text)
		default:
			s.trouble(err)
			s.beatAt = now.Add(time.Second)
		}
		return
	}
	if !s.membership.failing.IsZero() {
		s.membership.failing = time.Time{}
		s.trouble(nil)
	}
	s.epoch = resp.MemberEpoch
	if resp.Assignment != nil {
		var assigned []int32
		for _, t := range resp.Assignment.TopicPartitions {
			if t.TopicID == s.topicID {
				assigned = append(assigned, t.Partitions...)
			}
		}
		slices.Sort(assigned)
		s.assigned, s.dirty = assigned, true
	}
	if len(s.assigned) > 0 && s.phase == model.SessionJoining {
		s.phase, s.dirty = model.SessionMember, true
		s.learnConfigs()
	}
	if s.phase == model.SessionMember {
		s.beatAt = now.Add(time.Duration(resp.HeartbeatIntervalMillis) * time.Millisecond)
	}
}

// learnConfigs reads what decides about the group's records. It is for words only, so a failure is not told.
func (s *sessionState) learnConfigs() {
	s.do(func() func() {
		ctx, cancel := context.WithTimeout(s.life, beatPatience)
		defer cancel()
		configs, err := s.reader.GroupConfigs(ctx, s.group)
		versions, verr := versionsRequest().RequestWith(ctx, s.admin)
		return func() {
			s.dirty = true
			if err == nil {
				s.out.Limit = configs.DeliveryLimit()
				if v, ok := configs.Find("share.renew.acknowledge.enable"); ok && v.Value == "false" {
					s.out.Renewable, s.out.RenewText = model.Some(false), "Locks cannot be extended in this group: share.renew.acknowledge.enable is false."
				}
			}
			if verr == nil {
				s.out.Version = kafkaVersion(versions)
				s.out.CloseUndoes = closeUndoes(s.out.Version)
			}
		}
	})
}

// closeUndoes is whether the end of a session takes the attempt back: until 4.1 it does, from 4.3 on it does not.
// 4.2 was not seen.
func closeUndoes(version string) model.Opt[bool] {
	switch version {
	case "":
		return model.None[bool]()
	case "4.1":
		return model.Some(true)
	case "4.2":
		return model.None[bool]()
	}
	return model.Some(false)
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }

// beginLeaving stops taking; what was decided is still sent.
func (s *sessionState) beginLeaving(now time.Time) {
	if s.phase >= model.SessionLeaving {
		return
	}
	s.phase, s.ending, s.dirty = model.SessionLeaving, now.Add(leaveLimit), true
	s.endTakings(true)
}

// goOnLeaving closes the sessions that have nothing under way, then leaves the group. Requests that wait are waited
// for: ending one closes the connection, and then the broker notices late.
func (s *sessionState) goOnLeaving(now time.Time) {
	late := !now.Before(s.ending)
	if len(s.leaders) > 0 && !late {
		if s.leaving == nil {
			s.beginRelease()
		}
		for _, l := range s.leaders {
			if l.asking == askNothing && !s.undecided(l) {
				s.closeLeader(l)
			}
		}
		return
	}
	if len(s.leaders) > 0 {
		for _, l := range s.leaders {
			s.lost(l, false, "closed", "The leader did not answer in time, so the connection was closed: the broker gives the record back, at the latest when its lock runs out.")
		}
	}
	switch {
	case late:
	case s.beating:
		return
	case s.joined && now.Before(s.beatAt) && s.left > 0:
		return
	case s.joined:
		s.beating = true
		s.left++
		s.sendBeat(lastEpoch, func(_ *kmsg.ShareGroupHeartbeatResponse, err error) {
			s.beating = false
			s.joined = err != nil && transient(err)
			s.beatAt = time.Now().Add(joinEvery)
		})
		return
	}
	if len(s.doubts)+len(s.asked) > 0 && !late {
		return
	}
	for _, v := range slices.Concat(s.doubts, s.asked) {
		s.conclude(v, false, "unknown", "The outcome is not known: the session ended before it was read back.", false)
	}
	s.doubts, s.asked = nil, nil
	s.endRelease()
	s.phase, s.dirty = model.SessionLeft, true
}
