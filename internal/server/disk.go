package server

import (
	"fmt"

	"github.com/refit-bench/refit/internal/gate"
)

// minFree is the free space, in bytes, below which doctor refuses to start.
const minFree = 1 << 30

// enoughFree judges the free space, in bytes, where state, images and runs are kept.
func enoughFree(free uint64) gate.Verdict {
	v := gate.Verdict{Gate: "disk", Answer: gate.Pass, Reason: fmt.Sprintf("%.1f GiB free for images and runs", float64(free)/(1<<30))}
	if free < minFree {
		v.Answer, v.Reason = gate.Fail, v.Reason+": free at least 1 GiB"
	}
	return v
}
