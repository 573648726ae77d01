package kafkatest

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the process when the test binary is gone, however it ended.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
