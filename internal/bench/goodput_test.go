package bench

import (
	"testing"
	"time"
)

func TestGoodputCountsFromTheIntendedTime(t *testing.T) {
	ms := time.Millisecond
	slo := SLO{"ttft": 450 * ms, "tpot": 200 * ms, "e2el": 2000 * ms}
	fine := Request{FirstText: 200 * ms, Latency: 1000 * ms, OutputTokens: 5, TokensFrom: "usage"} // 200 ms a token
	late := fine
	late.Sent = 300 * ms
	slow := fine
	slow.Latency = 1001 * ms
	long := Request{FirstText: 200 * ms, Latency: 2001 * ms, OutputTokens: 100, TokensFrom: "usage"}
	single := Request{FirstText: 400 * ms, Latency: 400 * ms, OutputTokens: 1, TokensFrom: "usage"}
	silent := Request{Latency: 400 * ms, OutputTokens: 1, TokensFrom: "usage"}
	r := Result{Duration: 2 * time.Second, Requests: []Request{fine, late, slow, long, single, silent, {Error: "cut: x", ErrorKind: "cut"}, fine}}
	if g := r.Goodput(slo); g.Good != 3 || g.Share != 3.0/8 || g.RequestsPerSecond != 1.5 {
		t.Errorf("got %+v, want 3 of 8, 1.5 a second", g)
	}
	if g := r.Goodput(SLO{"tpot": 200 * ms}); g.Good != 6 {
		t.Errorf("tokens alone: got %+v, want 6", g)
	}
	if g := r.Goodput(SLO{"e2el": 1200 * ms}); g.Good != 5 {
		t.Errorf("whole answers alone: got %+v, want 5: the late one is not among them", g)
	}
}

// Tokens that nobody counted meet no limit of the time per token.
func TestGoodputOfUnknownTokens(t *testing.T) {
	r := Result{Duration: time.Second, Requests: []Request{{FirstText: 1, Latency: time.Hour}}}
	if g := r.Goodput(SLO{"tpot": time.Millisecond}); g.Good != 0 {
		t.Errorf("got %+v, want none", g)
	}
	if g := r.Goodput(SLO{"ttft": time.Millisecond}); g.Good != 1 {
		t.Errorf("first text alone: got %+v, want 1", g)
	}
}
