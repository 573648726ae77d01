package kafka

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// Admin changes groups: it moves and deletes offsets, deletes groups and sets their configurations. Each change has a
// preview that reads only, is written down in the audit file, and is read back. It is safe for concurrent use.
type Admin struct {
	conn  *Connection
	state string // folder for saved offsets; empty for that of [StateDir]

	life context.Context // ends with Close
	end  context.CancelFunc
	busy sync.WaitGroup // armed resets

	mu     sync.Mutex
	client *kgo.Client
}

// NewAdmin prepares an admin; it does not dial. Offsets are saved in the folder resets of state, or of [StateDir] when it is
// empty, before they are changed. The caller closes it.
func NewAdmin(c *Connection, state string) *Admin {
	a := &Admin{conn: c, state: state}
	a.life, a.end = context.WithCancel(context.Background())
	return a
}

// Close disarms every armed reset, lets a request in flight finish, and closes the client.
func (a *Admin) Close() {
	a.end()
	a.busy.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client != nil {
		a.client.Close()
	}
}

func (a *Admin) open() (*kgo.Client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.life.Err() != nil {
		return nil, ErrClosed
	}
	if a.client == nil {
		client, err := a.conn.client(jobAdmin)
		if err != nil {
			return nil, err
		}
		a.client = client
	}
	return a.client, nil
}

// allowed says why nothing can be changed on this connection, before anything is prepared for it.
func (a *Admin) allowed() error {
	switch {
	case a.conn.cfg.ReadOnly:
		return ErrReadOnly
	case a.conn.cfg.Audit == nil:
		return ErrNoAudit
	}
	return nil
}

// coordinatorWait is for how long a coordinator that is on the move is waited for.
const coordinatorWait = 10 * time.Second

// coordinator is the broker that coordinates a group. franz-go's own memory of coordinators outlives their brokers,
// so they are looked up for every operation, and again when they say that they are none.
type coordinator struct {
	client *kgo.Client
	group  string
	node   int32
}

// coordinator finds the coordinator of a group.
func (a *Admin) coordinator(ctx context.Context, group string) (*coordinator, error) {
	client, err := a.open()
	if err != nil {
		return nil, err
	}
	c := &coordinator{client: client, group: group, node: -1}
	return c, c.find(ctx)
}

func (c *coordinator) find(ctx context.Context) error {
	return c.settled(ctx, func() (int16, error) {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorKeys = c.group, []string{c.group}
		resp, err := c.client.Request(ctx, req)
		if err != nil {
			return 0, err
		}
		found := resp.(*kmsg.FindCoordinatorResponse)
		code := found.ErrorCode
		c.node = found.NodeID
		for _, k := range found.Coordinators {
			c.node, code = k.NodeID, k.ErrorCode
		}
		if moved(code) {
			return code, nil
		}
		return 0, answered(kmsg.FindCoordinator, c.group, code, nil)
	})
}

// ask sends a request to the coordinator. code finds in the answer the error that says that it is none: then nothing was
// done, and the request goes to the next. A request that gets no answer is not sent again.
func (c *coordinator) ask(ctx context.Context, req kmsg.Request, code func(kmsg.Response) int16) (kmsg.Response, error) {
	var resp kmsg.Response
	err := c.settled(ctx, func() (int16, error) {
		var err error
		if resp, err = c.client.Broker(int(c.node)).Request(ctx, req); err != nil {
			return 0, err
		}
		if n := code(resp); moved(n) {
			return n, c.find(ctx)
		}
		return 0, nil
	})
	return resp, err
}

// settled calls do until its code is not one of a coordinator on the move, for coordinatorWait at most.
func (c *coordinator) settled(ctx context.Context, do func() (int16, error)) error {
	const pause = 100 * time.Millisecond
	for began := time.Now(); ; {
		code, err := do()
		if err != nil || code == 0 {
			return err
		}
		if time.Since(began) > coordinatorWait {
			return answered(kmsg.FindCoordinator, c.group, code, nil)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Group describes one group with its members, as the coordinator sees it now; assignments are left out. The type need not
// be known. A group that does not exist has the state Dead.
func (a *Admin) Group(ctx context.Context, id string, typ model.GroupType) (*model.Group, error) {
	c, err := a.coordinator(ctx, id)
	if err != nil {
		return nil, err
	}
	if typ == model.TypeUnknown {
		if typ, err = c.groupType(ctx); err != nil {
			return nil, err
		}
	}
	return c.describe(ctx, typ)
}

// groupType looks up the type of the group. One that does not exist would be classic: a commit makes it.
func (c *coordinator) groupType(ctx context.Context) (model.GroupType, error) {
	resp, err := c.ask(ctx, kmsg.NewPtrListGroupsRequest(), func(r kmsg.Response) int16 { return r.(*kmsg.ListGroupsResponse).ErrorCode })
	if err != nil {
		return model.TypeUnknown, err
	}
	listed := resp.(*kmsg.ListGroupsResponse)
	for _, g := range listed.Groups {
		if g.Group == c.group && g.GroupType != "" {
			return groupType(g.GroupType), nil
		}
	}
	return model.TypeClassic, answered(kmsg.ListGroups, "", listed.ErrorCode, nil)
}

// describe describes the group by its type.
func (c *coordinator) describe(ctx context.Context, typ model.GroupType) (*model.Group, error) {
	g := &model.Group{ID: c.group, Type: typ, Coordinator: c.node}
	var code int16
	var text *string
	key := describeKey(typ)
	switch key {
	case kmsg.ConsumerGroupDescribe:
		req := kmsg.NewPtrConsumerGroupDescribeRequest()
		req.Groups = []string{c.group}
		resp, err := c.ask(ctx, req, func(r kmsg.Response) int16 {
			return first(r.(*kmsg.ConsumerGroupDescribeResponse).Groups, func(g *kmsg.ConsumerGroupDescribeResponseGroup) int16 { return g.ErrorCode })
		})
		if err != nil {
			return nil, err
		}
		for _, d := range resp.(*kmsg.ConsumerGroupDescribeResponse).Groups {
			code, text, g.State = d.ErrorCode, d.ErrorMessage, d.State
			for _, m := range d.Members {
				g.Members = append(g.Members, model.Member{ID: m.MemberID, ClientID: m.ClientID, Host: clientHost(m.ClientHost), InstanceID: deref(m.InstanceID)})
			}
		}
	case kmsg.ShareGroupDescribe:
		req := kmsg.NewPtrShareGroupDescribeRequest()
		req.GroupIDs = []string{c.group}
		resp, err := c.ask(ctx, req, func(r kmsg.Response) int16 {
			return first(r.(*kmsg.ShareGroupDescribeResponse).Groups, func(g *kmsg.ShareGroupDescribeResponseGroup) int16 { return g.ErrorCode })
		})
		if err != nil {
			return nil, err
		}
		for _, d := range resp.(*kmsg.ShareGroupDescribeResponse).Groups {
			code, text, g.State = d.ErrorCode, d.ErrorMessage, d.GroupState
			for _, m := range d.Members {
				g.Members = append(g.Members, model.Member{ID: m.MemberID, ClientID: m.ClientID, Host: clientHost(m.ClientHost)})
			}
		}
	case kmsg.DescribeGroups:
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{c.group}
		resp, err := c.ask(ctx, req, func(r kmsg.Response) int16 {
			return first(r.(*kmsg.DescribeGroupsResponse).Groups, func(g *kmsg.DescribeGroupsResponseGroup) int16 { return g.ErrorCode })
		})
		if err != nil {
			return nil, err
		}
		for _, d := range resp.(*kmsg.DescribeGroupsResponse).Groups {
			code, text, g.State = d.ErrorCode, d.ErrorMessage, d.State
			for _, m := range d.Members {
				g.Members = append(g.Members, model.Member{ID: m.MemberID, ClientID: m.ClientID, Host: clientHost(m.ClientHost), InstanceID: deref(m.InstanceID)})
			}
		}
	default:
		return nil, errors.New("groups of the type " + typ.String() + " are not described")
	}
	if code == kerr.GroupIDNotFound.Code {
		g.State, g.Members, code = "Dead", nil, 0
	}
	return g, answered(key, c.group, code, text)
}

// first is the code of the only answer, 0 when there is none.
func first[T any](answers []T, code func(*T) int16) int16 {
	if len(answers) == 0 {
		return 0
	}
	return code(&answers[0])
}

// Progress tells how far a long operation is. Its methods may be called while it runs, and on nil.
type Progress struct {
	stage       atomic.Pointer[string]
	done, total atomic.Int64
}

// Now is what is being done, and how much of it is.
func (p *Progress) Now() (stage string, done, total int64) {
	if p == nil {
		return "", 0, 0
	}
	if s := p.stage.Load(); s != nil {
		stage = *s
	}
	return stage, p.done.Load(), p.total.Load()
}

func (p *Progress) begin(stage string, total int) {
	if p != nil {
		p.done.Store(0)
		p.total.Store(int64(total))
		p.stage.Store(&stage)
	}
}

func (p *Progress) add(n int) {
	if p != nil {
		p.done.Add(int64(n))
	}
}
