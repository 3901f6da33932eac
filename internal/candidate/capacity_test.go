package candidate

import (
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result/api"
)

var statusMade = time.Date(2026, 9, 19, 12, 0, 30, 0, time.UTC)

// roomy is an eligible cluster: 4 of 8 nodes in use, 4 idle.
func roomy(id string) api.Cluster {
	return api.Cluster{
		ID: id, ObservedAt: statusMade.Add(-28 * time.Second), ReceivedAt: statusMade.Add(-25 * time.Second),
		Status: "operational", Nodes: api.Nodes{Total: 8, Allocated: 3, Mixed: 1, Idle: 4},
	}
}

// eligibleNow asks for one cluster of a document that holds it alone.
func eligibleNow(c api.Cluster) gate.Verdict {
	doc := api.ClusterStatus{GeneratedAt: statusMade, Clusters: []api.Cluster{c}}
	return capacityOf(doc, statusMade).Check([]string{c.ID})[0]
}

func TestCapacityOfTheSample(t *testing.T) {
	c := StatusCapacity(sharedFeed(t, "status-clusters.json"), statusMade.Add(time.Minute))
	want := []gate.Verdict{
		{Gate: "mi355x-amds", Answer: gate.Pass, Reason: "eligible"},
		{Gate: "mi325x-amds", Answer: gate.Pass, Reason: "eligible"},
		{Gate: "b300-nv", Answer: gate.Fail, Reason: "it has no room now"},
		{Gate: "h200-cw", Answer: gate.Fail, Reason: "what is known about it is stale"},
		{Gate: "h100-x", Answer: gate.Fail, Reason: "the answer has no such cluster"},
		{Gate: "", Answer: gate.Fail, Reason: "the answer has no such cluster"},
	}
	ids := make([]string, len(want))
	for i, v := range want {
		ids[i] = v.Gate
	}
	for i, got := range c.Check(ids) {
		if got != want[i] {
			t.Errorf("got %v, want %v", got, want[i])
		}
	}
}

func TestCapacityIsStrictlyBelow80Percent(t *testing.T) {
	check := func(n api.Nodes, want string) {
		t.Helper()
		c := roomy("a")
		c.Nodes = n
		if got := eligibleNow(c); got.Reason != want || (got.Answer == gate.Pass) != (want == "eligible") {
			t.Errorf("%+v: got %v, want %s", n, got, want)
		}
	}
	const full, odd = "it has no room now", "its node counts do not add up"
	check(api.Nodes{Total: 10, Allocated: 8, Idle: 2}, full) // exactly 80 %
	check(api.Nodes{Total: 10, Allocated: 4, Mixed: 4, Idle: 2}, full)
	check(api.Nodes{Total: 10, Allocated: 7, Idle: 3}, "eligible")
	check(api.Nodes{Total: 5, Allocated: 4, Idle: 1}, full)
	check(api.Nodes{Total: 9, Allocated: 7, Idle: 2}, "eligible") // 77.8 %
	check(api.Nodes{Total: 9, Mixed: 7, Idle: 2}, "eligible")
	check(api.Nodes{Total: 9, Allocated: 8, Idle: 1}, full)
	check(api.Nodes{Total: 2_000_000_005, Allocated: 1_600_000_004, Idle: 400_000_001}, full)
	check(api.Nodes{Total: 2_000_000_005, Allocated: 1_600_000_003, Idle: 400_000_002}, "eligible")
	check(api.Nodes{Total: 8, Allocated: 4, Down: 4}, full) // half in use, nothing idle
	check(api.Nodes{Total: 8, Mixed: 4, Other: 4}, full)
	check(api.Nodes{Total: 1, Idle: 1}, "eligible")
	check(api.Nodes{Total: 8, Idle: 1, Down: 4, Other: 3}, "eligible") // nothing in use
	check(api.Nodes{}, odd)
	check(api.Nodes{Total: 8, Allocated: 3, Idle: 4}, odd)
	check(api.Nodes{Total: 8, Allocated: 5, Idle: 4}, odd)
	check(api.Nodes{Total: 8, Allocated: -1, Idle: 9}, odd)
	check(api.Nodes{Total: -8, Allocated: -4, Idle: -4}, odd)
}

func TestCapacityNeedsAKnownStatus(t *testing.T) {
	for status, want := range map[string]bool{
		"operational": true, "degraded": true, "": false, "Operational": false, "maintenance": false, "outage": false, "unheard-of": false,
	} {
		c := roomy("a")
		c.Status = status
		if got := eligibleNow(c); (got.Answer == gate.Pass) != want {
			t.Errorf("status %q: got %v, want %v", status, got, want)
		}
	}
}

func TestStaleClusterIsNotEligible(t *testing.T) {
	c := roomy("a")
	c.Stale = true
	if got := eligibleNow(c); got.Answer != gate.Fail || got.Reason != "what is known about it is stale" {
		t.Errorf("got %v", got)
	}
}

func TestOddClusterIsNotEligible(t *testing.T) {
	c := roomy("a")
	c.Odd = "stale: want true or false"
	if got := eligibleNow(c); got.Answer != gate.Fail || got.Reason != "the answer about it is not as it should be: stale: want true or false" {
		t.Errorf("got %v", got)
	}
}

// Times are ordered observed, received, generated; clocks may differ by 5 s.
func TestTimesAreOrderedWithinFiveSecondsOfSkew(t *testing.T) {
	check := func(observed, received time.Duration, want bool) {
		t.Helper()
		c := roomy("a")
		c.ObservedAt, c.ReceivedAt = statusMade.Add(observed), statusMade.Add(received)
		if got := eligibleNow(c); (got.Answer == gate.Pass) != want {
			t.Errorf("observed %s, received %s: got %v, want %v", observed, received, got, want)
		}
	}
	const s = time.Second
	check(-10*s, -10*s, true)
	check(-5*s, -10*s, true)
	check(-5*s+1, -10*s, false)
	check(0, 5*s, true)
	check(0, 5*s+1, false)
	check(5*s, 5*s, true)
	check(8*s, 4*s, false)                    // each within 5 s of the next, but not of the last
	check(-24*time.Hour, -24*time.Hour, true) // the server says what is stale
}

func TestResponseTooOld(t *testing.T) {
	doc := api.ClusterStatus{GeneratedAt: statusMade, Clusters: []api.Cluster{roomy("a")}}
	check := func(age time.Duration, want string) {
		t.Helper()
		if got := capacityOf(doc, statusMade.Add(age)).Check([]string{"a"})[0]; got.Reason != want || (got.Answer == gate.Pass) != (want == "eligible") {
			t.Errorf("%s old: got %v, want %s", age, got, want)
		}
	}
	check(0, "eligible")
	check(120*time.Second, "eligible")
	check(120*time.Second+1, "the answer is more than 120 s old: ask again")
	check(121*time.Second, "the answer is more than 120 s old: ask again")
	check(-5*time.Second, "eligible")
	check(-5*time.Second-1, "the answer is from the future: one of the two clocks is wrong")
}

// A cluster named twice makes nothing eligible, also when one of the two is odd.
func TestDuplicateIDsMakeNothingEligible(t *testing.T) {
	odd := api.Cluster{ID: "a", Odd: "status: want text that is not empty"}
	for name, clusters := range map[string][]api.Cluster{
		"same":      {roomy("a"), roomy("b"), roomy("a")},
		"odd-first": {odd, roomy("b"), roomy("a")},
		"odd-last":  {roomy("a"), roomy("b"), odd},
	} {
		c := capacityOf(api.ClusterStatus{GeneratedAt: statusMade, Clusters: clusters}, statusMade)
		for _, v := range c.Check([]string{"a", "b"}) {
			if v.Answer != gate.Fail || v.Reason != "the answer names a cluster twice" {
				t.Errorf("%s: got %v", name, v)
			}
		}
	}
	// Two that could not be named are two odd ones, not one twice.
	c := capacityOf(api.ClusterStatus{GeneratedAt: statusMade, Clusters: []api.Cluster{{Odd: "x"}, {Odd: "x"}, roomy("b")}}, statusMade)
	if got := c.Check([]string{"b"})[0]; got.Answer != gate.Pass {
		t.Errorf("beside two without a name: got %v", got)
	}
}

// Text that cannot be understood makes nothing eligible, and says why.
func TestUnreadableStatusMakesNothingEligible(t *testing.T) {
	for src, want := range map[string]string{
		"":                 `status document: want a JSON value that starts with "{"`,
		`{"kind":"other"}`: `status document: kind: want "inferencex.status.clusters"`,
	} {
		got := StatusCapacity([]byte(src), statusMade).Check([]string{"a"})[0]
		if got.Answer != gate.Fail || got.Reason != want {
			t.Errorf("%q: got %v, want %s", src, got, want)
		}
	}
}

// No reason tells a figure of the clusters.
func TestReasonsTellNoFigures(t *testing.T) {
	full, uneven, odd := roomy("full"), roomy("uneven"), roomy("odd")
	full.Nodes = api.Nodes{Total: 777, Allocated: 666, Idle: 111}
	uneven.Nodes = api.Nodes{Total: 777, Allocated: 555, Idle: 111}
	odd.Nodes = api.Nodes{Total: 777, Allocated: 777, Idle: -777}
	c := capacityOf(api.ClusterStatus{GeneratedAt: statusMade, Clusters: []api.Cluster{full, uneven, odd}}, statusMade)
	for _, v := range c.Check([]string{"full", "uneven", "odd"}) {
		if v.Answer != gate.Fail || strings.ContainsAny(v.String(), "0123456789") {
			t.Errorf("got %v, want a refusal without figures", v)
		}
	}
}
