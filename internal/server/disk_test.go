package server

import (
	"testing"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/workspace"
)

func TestDoctorWantsOneGiBFree(t *testing.T) {
	for name, c := range map[string]struct {
		free uint64 // bytes
		want gate.Verdict
	}{
		"plenty":        {5 << 30, gate.Verdict{Gate: "disk", Answer: gate.Pass, Reason: "5.0 GiB free for images and runs"}},
		"just-enough":   {1 << 30, gate.Verdict{Gate: "disk", Answer: gate.Pass, Reason: "1.0 GiB free for images and runs"}},
		"one-byte-less": {1<<30 - 1, gate.Verdict{Gate: "disk", Answer: gate.Fail, Reason: "1.0 GiB free for images and runs: free at least 1 GiB"}},
	} {
		if got := enoughFree(c.free); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// It is asked of the file system that holds the workspace's state.
func TestDoctorAsksTheStatesFileSystem(t *testing.T) {
	h := startHost(t)
	p := &Parts{Workspace: h.Workspace}
	got := p.local(t.Context())
	if len(got) != 1 || got[0].Gate != "disk" || got[0].Answer == gate.Unknown {
		t.Errorf("got %+v, want an answer about the disk", got)
	}
	p.Workspace = &workspace.Workspace{Root: "/nowhere"}
	if got := p.local(t.Context()); len(got) != 1 || got[0].Answer != gate.Unknown {
		t.Errorf("without a state: got %+v, want unknown", got)
	}
}
