package bench

import (
	"testing"
	"time"
)

// Ranks by summing the binomial distribution term by term.
func TestBoundRank(t *testing.T) {
	for _, c := range []struct {
		n    int
		p    float64
		rank int // 0 = none
	}{{4, 50, 0}, {5, 50, 5}, {28, 90, 0}, {29, 90, 29}, {100, 50, 59}, {100, 90, 96}, {298, 99, 0}, {299, 99, 299}, {500, 99, 499}, {1000, 99, 996}, {0, 50, 0}, {9, 100, 0}} {
		rank, ok := boundRank(c.n, c.p)
		if ok != (c.rank > 0) || ok && rank != c.rank {
			t.Errorf("%d values, p%v: got rank %d, %v; want %d", c.n, c.p, rank, ok, c.rank)
		}
	}
	for p, want := range map[float64]int{50: 5, 90: 29, 99: 299, 99.9: 2995} {
		if got := samplesFor(p); got != want || !enough(want, p) || enough(want-1, p) {
			t.Errorf("p%v: %d values suffice, want %d", p, got, want)
		}
	}
}

// Of many samples of a known distribution at most one in twenty has its
// percentile above the bound.
func TestBoundHolds(t *testing.T) {
	const samples, n = 2000, 100
	c := chance{Twister: NewTwister(7)}
	above := 0
	for range samples {
		var r Result
		for range n {
			r.Requests = append(r.Requests, Request{Latency: time.Duration(1e9 * c.uniform())})
		}
		if b := r.Bound("e2el", 90); b.Upper < 0.9 {
			above++
		} else if b.Upper < b.Value {
			t.Fatalf("bound %v below the value %v", b.Upper, b.Value)
		}
	}
	if share := float64(above) / samples; share > 0.05 || share < 0.01 {
		t.Errorf("the percentile was above its bound in %.3f of the samples, want close below 0.05", share)
	}
}

func TestGapsHaveNoBound(t *testing.T) {
	q := Request{ITLs: make([]time.Duration, 1000), TextITLs: make([]time.Duration, 1000)}
	for _, metric := range []string{"itl", "text-itl"} {
		if b := (Result{Requests: []Request{q}}).Bound(metric, 50); b != nil {
			t.Errorf("%s: got %+v for the gaps of one answer", metric, b)
		}
	}
}
