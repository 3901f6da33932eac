package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unknown stands for a fact that this system does not tell.
const unknown = "unknown"

// Holder is a process, named so that a later process can tell whether it is
// still there. Machine is a digest over the machine id, the host name and the
// process namespace, because a pid means something only inside one namespace.
// Start is in clock ticks since boot.
type Holder struct {
	Machine, Boot string
	PID           int
	Start         string
}

// Process is the holder that this process is.
func Process() Holder {
	start, _, err := startTicks(os.Getpid())
	if err != nil {
		start = unknown
	}
	return Holder{Machine: machine(), Boot: boot(), PID: os.Getpid(), Start: start}
}

// String is process:<machine>:<boot>:<pid>:<start>.
func (h Holder) String() string {
	return fmt.Sprintf("process:%s:%s:%d:%s", h.Machine, h.Boot, h.PID, h.Start)
}

// ID is the short name of a holder in markers and titles: p and 12 hex digits.
func (h Holder) ID() string {
	return "p" + Identity([]any{h.Machine, h.Boot, h.PID, h.Start})[:12]
}

// ParseHolder reads what String wrote.
func ParseHolder(s string) (Holder, error) {
	part := strings.Split(s, ":")
	if len(part) != 5 || part[0] != "process" {
		return Holder{}, fmt.Errorf("holder %q: want process:<machine>:<boot>:<pid>:<start>", s)
	}
	pid, err := strconv.Atoi(part[3])
	if err != nil || pid <= 0 || strconv.Itoa(pid) != part[3] {
		return Holder{}, fmt.Errorf("holder %q: %q is no process id", s, part[3])
	}
	for _, p := range []string{part[1], part[2], part[4]} {
		if p == "" || strings.ContainsAny(p, " \t\r\n") {
			return Holder{}, fmt.Errorf("holder %q: empty or broken part", s)
		}
	}
	return Holder{Machine: part[1], Boot: part[2], PID: pid, Start: part[4]}, nil
}

// Alive tells whether the process still runs. Known is false where this
// machine cannot tell: another machine, another process namespace, or a system
// that hides its facts. A zombie is not alive.
func (h Holder) Alive() (alive, known bool) {
	here, up := machine(), boot()
	if here == unknown || h.Machine != here || up == unknown || h.Boot == unknown {
		return false, false
	}
	if h.Boot != up {
		return false, true
	}
	if h.Start == unknown || h.PID <= 0 {
		return false, false
	}
	if errors.Is(unix.Kill(h.PID, 0), unix.ESRCH) {
		return false, true
	}
	start, state, err := startTicks(h.PID)
	if err != nil {
		return false, false
	}
	return start == h.Start && state != 'Z' && state != 'X', true
}

// startTicks reads the start time and the state of a process from
// /proc/PID/stat. The command's name, field 2, may hold spaces and brackets.
func startTicks(pid int) (ticks string, state byte, err error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	data, err := ReadFile(path, 1<<16)
	if err != nil {
		return "", 0, err
	}
	text := string(data)
	field := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(field) < 20 {
		return "", 0, fmt.Errorf("read %s: %d fields after the name, want 20", path, len(field))
	}
	return field[19], field[0][0], nil
}

func boot() string {
	data, err := ReadFile("/proc/sys/kernel/random/boot_id", 256)
	if id := strings.TrimSpace(string(data)); err == nil && id != "" {
		return id
	}
	return unknown
}

// machine hides the machine id behind a digest; the id itself is private.
// https://www.freedesktop.org/software/systemd/man/latest/machine-id.html
func machine() string {
	host, err := os.Hostname()
	if err != nil {
		return unknown
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return unknown
	}
	id, err := ReadFile("/etc/machine-id", 256)
	if err != nil {
		id = nil // containers often have none; host and namespace remain
	}
	sum := sha256.Sum256([]byte("refit\n" + strings.TrimSpace(string(id)) + "\n" + host + "\n" + space))
	return hex.EncodeToString(sum[:6])
}
