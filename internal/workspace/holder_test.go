package workspace

import (
	"os/exec"
	"testing"
)

func TestHolder(t *testing.T) {
	me := Process()
	if alive, known := me.Alive(); !known || !alive {
		t.Skipf("this system hides its processes: %v", me)
	}
	back, err := ParseHolder(me.String())
	if err != nil || back != me {
		t.Errorf("ParseHolder(%s): got %v, %v", me, back, err)
	}
	check := func(name string, change func(*Holder), alive, known bool) {
		t.Helper()
		h := me
		change(&h)
		if a, k := h.Alive(); a != alive || k != known {
			t.Errorf("Alive(%s): got %v, %v, want %v, %v", name, a, k, alive, known)
		}
	}
	check("another-machine", func(h *Holder) { h.Machine = "0123456789ab" }, false, false)
	check("rebooted", func(h *Holder) { h.Boot = "00000000-0000-0000-0000-000000000000" }, false, true)
	check("pid-used-again", func(h *Holder) { h.Start = "1" + h.Start }, false, true)
	check("start-not-known", func(h *Holder) { h.Start = unknown }, false, false)
	check("boot-not-known", func(h *Holder) { h.Boot = unknown }, false, false)
	check("pid-zero", func(h *Holder) { h.PID = 0 }, false, false)
}

func TestHolderThatEnded(t *testing.T) {
	if _, known := Process().Alive(); !known {
		t.Skip("this system hides its processes")
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no program to start: %v", err)
	}
	h := Process()
	h.PID = cmd.Process.Pid
	if h.Start, _, err = startTicks(h.PID); err != nil {
		t.Fatal(err)
	}
	if alive, known := h.Alive(); !alive || !known {
		t.Errorf("while it runs: got %v, %v", alive, known)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if alive, known := h.Alive(); alive || !known {
		t.Errorf("after it ended: got %v, %v", alive, known)
	}
}

func TestHolderText(t *testing.T) {
	h := Holder{Machine: "m", Boot: "b-1", PID: 12, Start: "345"}
	if got := h.String(); got != "process:m:b-1:12:345" {
		t.Errorf("String: got %s", got)
	}
	if got, want := h.ID(), "p"+Identity([]any{"m", "b-1", 12, "345"})[:12]; got != want {
		t.Errorf("ID: got %s, want %s", got, want)
	}
	for _, s := range []string{"", "run:1", "process:m:b:x:1", "process:m:b:0:1", "process:m:b:01:1", "process:m:b:-1:1",
		"process::b:1:1", "process:m:b:1:", "process:m:b:1:1:1", "process:m:b b:1:1"} {
		if h, err := ParseHolder(s); err == nil {
			t.Errorf("ParseHolder(%q): got %v, want an error", s, h)
		}
	}
}
