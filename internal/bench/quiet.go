package bench

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// quietRoom is how much this process may grow before garbage is collected
// during a measurement, beside what is planned. The hot path makes none.
const quietRoom = 256 << 20

// quietSlots is how many goroutines may run at a time during a measurement, at
// least. A thread that comes back from the kernel needs a slot, and with one
// alone a helper thread that a busy host does not let run can hold it.
const quietSlots = 4

// hush counts the measurements that want no collections. The setting is the
// process's: the first of them changes it, the last one puts it back.
var hush struct {
	sync.Mutex
	runs    int
	percent int
	limit   int64
	slots   func() // puts the number of slots back
}

// quiet collects garbage now and then no more until the function that it
// returns is called, or memory has grown by quietRoom and the bytes that are
// planned; a lower limit of the process stays. A collection stops the measuring
// thread, and on a busy host its helpers wait for a processor while the thread
// waits for them.
func quiet(planned int64) (restore func()) {
	hush.Lock()
	defer hush.Unlock()
	if hush.runs++; hush.runs == 1 {
		runtime.GC()
		hush.limit = debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(min(hush.limit, memoryNow()+quietRoom+planned))
		hush.percent = debug.SetGCPercent(-1)
		hush.slots = moreSlots(quietSlots)
	} else {
		debug.SetMemoryLimit(min(hush.limit, debug.SetMemoryLimit(-1)+planned))
	}
	return func() {
		hush.Lock()
		defer hush.Unlock()
		if hush.runs--; hush.runs == 0 {
			debug.SetGCPercent(hush.percent)
			debug.SetMemoryLimit(hush.limit)
			hush.slots()
		}
	}
}

// gapBytes are the bytes of what a run keeps of its messages: two gaps for each
// token.
func gapBytes(ps []plan) int64 {
	bytes := int64(0)
	for _, p := range ps {
		bytes += 2 * 8 * int64(p.output)
	}
	return bytes
}

// memoryNow is what this process has from the system, in bytes.
func memoryNow() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() != metrics.KindUint64 {
		return math.MaxInt64 / 2
	}
	return int64(sample[0].Value.Uint64())
}
