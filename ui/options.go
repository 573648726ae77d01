package ui

import (
	"context"
	"time"

	"flightdeck/model"
)

// Source reads a cluster. Its methods are called from commands, one call of each at a time, and must
// return soon after ctx ends.
type Source interface {
	// Snapshot reads the cluster to the extent of want. An error means that nothing could be read;
	// partial failure is in the snapshot's problems.
	Snapshot(ctx context.Context, want model.Want) (*model.Snapshot, error)
	// ShareOffsets reads the positions of share groups, which can take seconds.
	ShareOffsets(ctx context.Context, groups []string) (model.ShareOffsets, error)
}

// Options say what an [App] shows and how.
type Options struct {
	// Source is where snapshots come from. Required.
	Source Source
	// Follower follows the records of share groups; nil when nothing does.
	Follower Follower
	// Reader reads single records and settings; nil when nothing does.
	Reader Reader
	// Admin changes groups. Nil: the cluster can only be looked at.
	Admin Admin
	// Take begins a share session; nil when records can not be taken.
	Take func(context.Context, TakeRequest) (ShareSession, error)
	// Produce begins to produce; nil when nothing can be produced.
	Produce func(context.Context, model.ProduceSpec) (Production, error)
	// Redriver puts records back into work; nil when nothing does.
	Redriver Redriver
	// Explain turns an error of the source into a stable code and a sentence that says what happened,
	// where, and what to do. Nil: the error's own text.
	Explain func(error) (code, text string)

	// ClusterName is shown instead of the cluster id, when not empty.
	ClusterName string
	// Address is where the cluster is reached, shown until its id is known.
	Address string
	// Profile is the name of the connection profile, shown as a badge when not empty.
	Profile string
	// Version is flightdeck's own version.
	Version string

	// Interval is the time from the end of one poll to the start of the next; 0 means [DefaultInterval].
	Interval time.Duration
	// Timeout is how long one poll may take; 0 means [DefaultTimeout].
	Timeout time.Duration
	// OnlyGroups, when not nil, limits what is read and shown to the ids for which it returns true.
	OnlyGroups func(id string) bool

	// Theme names one of themes.Names; empty means themes.Auto.
	Theme string
	// ASCII draws with ASCII characters only.
	ASCII bool
	// LookupEnv is os.LookupEnv or stands in for it: NO_COLOR, the locale and TERM decide how to draw.
	// Nil: a terminal with colours and UTF-8.
	LookupEnv func(string) (string, bool)

	// ReadOnly disables what changes the cluster. It is enforced in package kafka; here it greys the keys.
	ReadOnly bool
	// Demo marks the cluster as the embedded one.
	Demo bool
	// LogFile and AuditLog are paths shown in Activity, when not empty.
	LogFile, AuditLog string
	// NoAudit is set when AuditLog cannot be written, so that no action will be carried out.
	NoAudit bool
	// Notices are shown at the start as warnings, such as settings that are not supported.
	Notices []string
}

// What a zero Interval and Timeout mean.
const (
	DefaultInterval = 2 * time.Second
	DefaultTimeout  = 15 * time.Second
)
