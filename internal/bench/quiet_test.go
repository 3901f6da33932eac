package bench

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// garbage makes more of it than starts a collection.
func garbage() (collections uint32) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	kept := make([]byte, 0)
	for range 64 {
		kept = make([]byte, 1<<20)
	}
	runtime.KeepAlive(kept)
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}

func TestQuiet(t *testing.T) {
	set := func() (percent int, limit int64) {
		percent = debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent, debug.SetMemoryLimit(-1)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	percent, limit := set()
	if garbage() == 0 {
		t.Fatal("64 MiB of garbage were never collected: the test says nothing")
	}
	slots := runtime.GOMAXPROCS(0)
	first, second := quiet(0), quiet(0)
	if n := runtime.GOMAXPROCS(0); n < quietSlots || n < slots {
		t.Errorf("%d slots, want at least %d", n, max(slots, quietSlots))
	}
	if n := garbage(); n != 0 {
		t.Errorf("%d collections while it was quiet", n)
	}
	first()
	if p, l := set(); p != -1 || l == limit {
		t.Errorf("one of two measurements has ended: percent %d, limit %d", p, l)
	}
	second()
	if p, l := set(); p != percent || l != limit {
		t.Errorf("both have ended: percent %d, limit %d, want %d and %d as before", p, l, percent, limit)
	}
	if n := runtime.GOMAXPROCS(0); n != slots {
		t.Errorf("%d slots, want the %d of before", n, slots)
	}
}

// What is planned is room, and a lower limit of the process stays.
func TestQuietRoom(t *testing.T) {
	const planned = 8 << 30
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	defer debug.SetMemoryLimit(limit())
	debug.SetMemoryLimit(1 << 50)
	first := quiet(planned)
	before := limit()
	if before < planned+quietRoom || before > 2*planned {
		t.Errorf("limit %d, want room for %d more", before, planned+quietRoom)
	}
	second := quiet(planned)
	if l := limit(); l != before+planned {
		t.Errorf("limit %d of two measurements, want %d", l, before+planned)
	}
	first()
	second()
	debug.SetMemoryLimit(1 << 30)
	defer quiet(planned)()
	if l := limit(); l != 1<<30 {
		t.Errorf("limit %d, want the process's %d", l, 1<<30)
	}
	if n := gapBytes([]plan{{output: 100}, {output: 28}}); n != 2048 {
		t.Errorf("%d bytes of 128 tokens, want 2048", n)
	}
}
