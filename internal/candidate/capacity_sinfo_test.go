package candidate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result/api"
)

const sinfoMade = "2026-09-19T12:00:30Z\n"

// A record as Slurm prints it: two partitions share n1 and n2.
const sinfoRecord = sinfoMade + `n1|allocated
n1|allocated
n2|mixed
n2|mixed
n3|idle
n4|idle
n5|down*
n6|drained
n7|draining
n8|idle*
`

func TestSinfoRecordCountsEveryNodeOnce(t *testing.T) {
	doc, err := parseSinfo("slurm-a", []byte(sinfoRecord))
	if err != nil || len(doc.Clusters) != 1 || !doc.GeneratedAt.Equal(statusMade) {
		t.Fatalf("%+v, %v", doc, err)
	}
	want := api.Cluster{
		ID: "slurm-a", ObservedAt: statusMade, ReceivedAt: statusMade, Status: "operational",
		Nodes: api.Nodes{Total: 8, Allocated: 2, Mixed: 1, Idle: 2, Down: 3},
	}
	if diff := cmp.Diff(want, doc.Clusters[0]); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
}

// The rule is that of the dashboard, the age of the record included.
func TestSinfoHasTheSameRule(t *testing.T) {
	check := func(name, src string, age time.Duration, want string) {
		t.Helper()
		got := SinfoCapacity("slurm-a", []byte(src), statusMade.Add(age)).Check([]string{"slurm-a"})[0]
		if got.Reason != want || (got.Answer == gate.Pass) != (want == "eligible") {
			t.Errorf("%s: got %v, want %s", name, got, want)
		}
	}
	list := func(states ...string) string {
		var b strings.Builder
		b.WriteString(sinfoMade)
		for i, s := range states {
			b.WriteString("n" + string(rune('a'+i)) + "|" + s + "\n")
		}
		return b.String()
	}
	check("record", sinfoRecord, 0, "eligible")
	check("120-s-old", sinfoRecord, 120*time.Second, "eligible")
	check("too-old", sinfoRecord, 121*time.Second, "the answer is more than 120 s old: ask again")
	check("from-the-future", sinfoRecord, -6*time.Second, "the answer is from the future: one of the two clocks is wrong")
	check("exactly-80-percent", list("allocated", "allocated", "mixed", "mixed", "idle"), 0, "it has no room now")
	check("60-percent", list("allocated", "allocated", "mixed", "down*", "idle"), 0, "eligible")
	check("completing-is-in-use", list("completing", "completing", "draining", "failing", "idle"), 0, "it has no room now")
	check("nothing-idle", list("allocated", "idle*", "idle~", "planned"), 0, "it has no room now")
	check("no-nodes", sinfoMade, 0, "its node counts do not add up")
	check("windows-line-ends", strings.ReplaceAll(sinfoRecord, "\n", "\r\n"), 0, "eligible")
	check("damaged", sinfoMade+"n1|idle\nn2|banana\n", 0, `sinfo record: line 3: unknown state "banana" of a node`)
}

func TestSinfoStates(t *testing.T) {
	for state, want := range map[string]api.Nodes{
		"allocated": {Allocated: 1}, "allocated+": {Allocated: 1}, "allocated*": {Allocated: 1}, "completing": {Allocated: 1},
		"completing*": {Allocated: 1}, "draining": {Allocated: 1}, "draining*": {Allocated: 1}, "failing": {Allocated: 1},
		"mixed": {Mixed: 1}, "mixed-": {Mixed: 1}, "mixed#": {Mixed: 1},
		"idle": {Idle: 1}, "idle*": {Down: 1}, "idle~": {Other: 1}, "idle#": {Other: 1}, "idle%": {Other: 1}, "idle!": {Other: 1},
		"idle$": {Other: 1}, "idle@": {Other: 1}, "idle^": {Other: 1}, "idle-": {Other: 1}, "idle~*": {Down: 1},
		"down": {Down: 1}, "down*": {Down: 1}, "down~": {Down: 1}, "drained": {Down: 1}, "drained*": {Down: 1}, "fail": {Down: 1},
		"planned": {Other: 1}, "reserved": {Other: 1}, "maint": {Other: 1}, "inval": {Other: 1}, "unknown": {Other: 1}, "powering_up": {Other: 1},
	} {
		want.Total = 1
		if got, err := sinfoNodes("n1|" + state + "\n"); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", state, got, err, want)
		}
	}
}

func TestDamagedSinfoRecordNamesTheLine(t *testing.T) {
	const format = "want one node and its state: record with sinfo -h -N -o '%N|%T'"
	check := func(src, want string) {
		t.Helper()
		if _, err := parseSinfo("a", []byte(src)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
	check("", "line 1: want the time of the record, as `date -u +%Y-%m-%dT%H:%M:%SZ` prints it")
	check("n1|idle\n", "line 1: want the time of the record, as `date -u +%Y-%m-%dT%H:%M:%SZ` prints it")
	check(sinfoMade+"NODELIST STATE\n", "line 2: "+format)
	check(sinfoMade+"n1|idle\n\nn[2-3]|idle\n", "line 4: "+format)
	check(sinfoMade+"n1,n2|idle\n", "line 2: "+format)
	check(sinfoMade+"|idle\n", "line 2: "+format)
	check(sinfoMade+"n1|\n", `line 2: unknown state "" of a node`)
	check(sinfoMade+"n1|Idle\n", `line 2: unknown state "Idle" of a node`)
	check(sinfoMade+"n1|idle|x\n", `line 2: unknown state "idle|x" of a node`)
	check(sinfoMade+"n1|*\n", `line 2: unknown state "*" of a node`)
	check(sinfoMade+"n1|idle\nn1|allocated\n", "line 3: a node is listed with two states: record again")
}
