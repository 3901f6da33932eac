package candidate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/recipe"
)

// AlwaysRoom is the capacity where nobody can be asked about clusters and
// nobody has to be: what cannot run at once waits in a queue. why says so.
func AlwaysRoom(why string) Capacity { return Capacity{open: why} }

// SinfoCapacities is the capacity by records of several Slurm clusters, each
// made on its cluster as SinfoCapacity wants it. What is wrong with a record
// makes its cluster alone not eligible.
func SinfoCapacities(records map[string][]byte, now time.Time) Capacity {
	all := Capacity{reason: map[string]string{}}
	for id, src := range records {
		all.reason[id] = ""
		if v := SinfoCapacity(id, src, now).verdict(id); v.Answer != gate.Pass {
			all.reason[id] = v.Reason
		}
	}
	return all
}

// Runner says whether one of the clusters that a runner label names may take
// one more sweep: which of them does is the forge's choice.
func (c Capacity) Runner(runners recipe.Runners, label string) gate.Verdict {
	v := gate.Verdict{Gate: "capacity", Answer: gate.Pass}
	ids := runners.Clusters(label)
	room, reasons := c.split(ids)
	switch {
	case c.open != "":
		v.Reason = c.open
	case len(ids) == 0:
		v.Answer, v.Reason = gate.Fail, fmt.Sprintf("runner label %s names no cluster", label)
	case len(room) == 0:
		v.Answer, v.Reason = gate.Fail, strings.Join(reasons, "; ")
	default:
		v.Reason = strings.Join(room, ", ") + " may take one more sweep"
	}
	return v
}

// split parts clusters into those that are eligible and the reasons of the others.
func (c Capacity) split(ids []string) (room, reasons []string) {
	for _, v := range c.Check(ids) {
		if v.Answer == gate.Pass {
			room = append(room, v.Gate)
		} else {
			reasons = append(reasons, v.Gate+": "+v.Reason)
		}
	}
	return room, reasons
}

// known are the clusters that the answer is about, sorted.
func (c Capacity) known() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.reason)), func(id string) bool { return id == "" })
}
