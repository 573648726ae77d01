//go:build !linux

package kafkatest

import "os/exec"

// dieWithParent does nothing here: a node outlives a test binary that is killed.
func dieWithParent(*exec.Cmd) {}
