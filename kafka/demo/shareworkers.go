package demo

import "context"

// temper is how a worker treats its records.
type temper uint8

const (
	steady temper = iota
	outOfOrder
	slow
	moody
)

func (c *Cluster) startShareWorkers(context.Context) {}
