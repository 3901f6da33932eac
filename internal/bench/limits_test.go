package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func fileLimit(t *testing.T) unix.Rlimit {
	t.Helper()
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// few leaves room for some files more until the end of a test.
func few(t *testing.T) unix.Rlimit {
	t.Helper()
	before := fileLimit(t)
	few := unix.Rlimit{Cur: uint64(openDescriptors() + 2*spareDescriptors), Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	})
	return few
}

// nobody is an address at which no server listens.
func nobody(t *testing.T) Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return Target{URL: "http://" + l.Addr().String(), Model: "m"}
}

// A run raises the limit of open files while it lasts, and no longer.
func TestFileLimitIsPutBack(t *testing.T) {
	before := few(t)
	const requests = 400
	w := Workload{Requests: requests, InputTokens: 1, OutputTokens: 1, Prompts: IDs, Vocabulary: 1000}
	r, err := Run(context.Background(), nobody(t), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Health.Headroom; h.Connections != requests || h.Descriptors < requests {
		t.Errorf("headroom %+v: the limit was not raised for %d connections", h, requests)
	}
	if after := fileLimit(t); after != before {
		t.Errorf("limit %+v after the run, want %+v as before", after, before)
	}
	w.Prompts, w.Vocabulary = Texts, 0
	if _, err := Run(context.Background(), nobody(t), w, nil); err == nil {
		t.Error("prompts of an unknown vocabulary were measured")
	}
	if after := fileLimit(t); after != before {
		t.Errorf("limit %+v after a run that failed, want %+v as before", after, before)
	}
}

// The last of several runs puts the limit back, and nobody takes away what
// somebody else has set since.
func TestFileLimitOfSeveralRuns(t *testing.T) {
	before := few(t)
	want := before.Cur + 50
	first, second := holdFileLimit(), holdFileLimit()
	if got := raised(before, want); got.Cur < before.Cur {
		t.Fatalf("limit %+v", got)
	}
	first()
	if now := fileLimit(t); now == before && before.Max > before.Cur {
		t.Errorf("limit %+v while a run goes on", now)
	}
	second()
	if now := fileLimit(t); now != before {
		t.Errorf("limit %+v after both, want %+v", now, before)
	}
	third := holdFileLimit()
	raised(before, want)
	other := unix.Rlimit{Cur: before.Cur - 1, Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &other); err != nil {
		t.Fatal(err)
	}
	third()
	if now := fileLimit(t); now != other {
		t.Errorf("limit %+v, want the %+v that somebody else set meanwhile", now, other)
	}
}

// slotsVariable makes this binary the process of a test: see followsProcessors.
const slotsVariable = "BENCH_TEST_SLOTS"

// followsProcessors lets a run take slots and give them back, takes a processor
// from this process, and says whether the number of slots follows within the
// time that the runtime takes to notice.
func followsProcessors() {
	before := runtime.GOMAXPROCS(0)
	quiet(0)()
	if now := runtime.GOMAXPROCS(0); now != before {
		fmt.Printf("%d slots, %d before\n", now, before)
		return
	}
	if err := pinned(0); err != nil {
		fmt.Println(err)
		return
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if runtime.GOMAXPROCS(0) == 1 {
			fmt.Println("follows")
			return
		}
		runtime.Gosched()
	}
	fmt.Printf("still %d slots on one processor\n", runtime.GOMAXPROCS(0))
}

// A process that lives on after a run has as many slots as before, and their
// number follows its processors again, unless somebody fixed it.
func TestSlotsFollowTheProcessorsAgain(t *testing.T) {
	if n := runtime.NumCPU(); n < 2 || n >= quietSlots {
		t.Skipf("a run changes the slots of a machine with 2 to %d processors, this one has %d", quietSlots-1, n)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), slotsVariable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "follows" {
		t.Errorf("got %s, %v", out, err)
	}
}

// A number of slots that somebody fixed stays that number.
func TestFixedSlotsAreKept(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	restore := moreSlots(quietSlots)
	if n := runtime.GOMAXPROCS(0); n != quietSlots {
		t.Errorf("%d slots, want %d", n, quietSlots)
	}
	restore()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("%d slots, want the 1 that was set", n)
	}
	t.Setenv("GOMAXPROCS", "3")
	if chosenByTheRuntime(3) {
		t.Error("a number of the environment was taken for the runtime's choice")
	}
}
