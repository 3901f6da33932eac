package bench

import (
	"math"
	"slices"
	"testing"
	"time"
)

// near is the tolerance for sums, whose order is the reference's own.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestDescribe(t *testing.T) {
	five := Describe([]float64{0.5, 0.1, 0.4, 0.2, 0.3}, DefaultPercentiles).scaled(1000)
	if !near(five.Mean, 300) || !near(five.Std, 141.4213562373095) || !near(five.Percentiles[90], 460) || !near(five.Percentiles[99], 496) || !near(five.Percentiles[99.9], 499.6) {
		t.Errorf("five values: %+v", five)
	}
	four := Describe([]float64{0.1, 0.2, 0.3, 0.4}, DefaultPercentiles).scaled(1000)
	if four.Median != 250 || four.Percentiles[90] != 370.00000000000006 || !near(four.Percentiles[99], 397) {
		t.Errorf("four values: %+v", four)
	}
	ten := Describe([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, DefaultPercentiles)
	if !near(ten.Percentiles[90], 9.1) || !near(ten.Percentiles[99], 9.91) || !near(ten.Percentiles[99.9], 9.991) || !near(ten.Std, 2.8722813232690143) {
		t.Errorf("ten values: %+v", ten)
	}
	none := Describe(nil, DefaultPercentiles)
	if none.Mean != 0 || none.Median != 0 || none.Std != 0 || none.Percentiles[99] != 0 || len(none.Percentiles) != 3 {
		t.Errorf("no values: %+v", none)
	}
}

// mixed is the reference's case of five requests, one of them failed.
func mixed() Result {
	s := func(x float64) time.Duration { return time.Duration(x * 1e9) }
	request := func(latency, ttft float64, tokens, gaps int, gap float64, input int) Request {
		q := Request{Latency: s(latency), TTFT: s(ttft), OutputTokens: tokens, InputTokens: input, TokensFrom: "usage", Requested: tokens}
		for range gaps {
			q.ITLs = append(q.ITLs, s(gap))
		}
		return q
	}
	return Result{Duration: 2 * time.Second, Requests: []Request{
		request(1.0, 0.2, 5, 4, 0.2, 10), request(2.0, 0.5, 11, 5, 0.3, 12), request(0.4, 0.4, 1, 0, 0, 9),
		{Error: "status: 500", ErrorKind: "status", InputTokens: 50}, request(1.5, 0.3, 0, 3, 0.4, 20),
	}}
}

func TestMetricsOfMixedRequests(t *testing.T) {
	r := mixed()
	got := r.Totals(nil)
	if got.Completed != 4 || got.Failed != 1 || got.InputTokens != 51 || got.OutputTokens != 17 ||
		!near(got.RequestsPerSecond, 2) || !near(got.OutputPerSecond, 8.5) || !near(got.TokensPerSecond, 34) {
		t.Errorf("totals %+v", got)
	}
	check := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-4 {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	ttft, tpot := r.Stats("ttft", DefaultPercentiles).scaled(1000), r.Stats("tpot", DefaultPercentiles).scaled(1000)
	itl, e2el := r.Stats("itl", DefaultPercentiles).scaled(1000), r.Stats("e2el", DefaultPercentiles).scaled(1000)
	check("ttft mean", ttft.Mean, 350)
	check("ttft p90", ttft.Percentiles[90], 470)
	check("tpot count", float64(tpot.N), 2)
	check("tpot mean", tpot.Mean, 175)
	check("tpot std", tpot.Std, 25)
	check("tpot p90", tpot.Percentiles[90], 195)
	check("itl mean", itl.Mean, 291.6667)
	check("itl median", itl.Median, 300)
	check("e2el mean", e2el.Mean, 1225)
	check("e2el median", e2el.Median, 1250)
	check("e2el p99", e2el.Percentiles[99], 1985)
}

func TestGoodput(t *testing.T) {
	r := mixed()
	ms := time.Millisecond
	if got := r.Totals(SLO{"ttft": 450 * ms, "tpot": 200 * ms}).GoodRequestsPerSecond; got != 1.5 {
		t.Errorf("ttft 450, tpot 200: %v good requests a second, want 1.5", got)
	}
	if got := r.Totals(SLO{"e2el": 1500 * ms}).GoodRequestsPerSecond; got != 1.5 {
		t.Errorf("e2el 1500: %v good requests a second, want 1.5", got)
	}
}

func TestFailureGate(t *testing.T) {
	check := func(completed, failed int, want bool) {
		t.Helper()
		if got := (Totals{Completed: completed, Failed: failed}).Passed(); got != want {
			t.Errorf("%d completed, %d failed: passed %v, want %v", completed, failed, got, want)
		}
	}
	check(0, 5, false)
	check(19, 1, true)
	check(95, 5, true)
	check(608, 32, true)
	check(609, 31, true)
	check(18, 2, false)
	if got := mixed().Totals(nil); got.Passed() {
		t.Error("one failure of five passed")
	}
}

func TestTwister(t *testing.T) {
	tw := NewTwister(0)
	for i, want := range []uint32{0x8c7f0aac, 0x97c4aa2f, 0xb716a675, 0xd821ccc0} {
		if got := tw.Word(); got != want {
			t.Errorf("word %d: %#x, want %#x", i, got, want)
		}
	}
}

// lengths are the draws of a run without prefix and vocabulary.
func lengths(seed int64, n, input, output int, ratio float64) (in, out []int) {
	d := draw(Workload{Seed: seed, InputTokens: input, OutputTokens: output, RangeRatio: ratio}, n, 0)
	return d.in, d.out
}

func TestLengthsAreTheReferences(t *testing.T) {
	check := func(name string, seed int64, n, input, output int, ratio float64, wantIn, wantOut []int) {
		t.Helper()
		in, out := lengths(seed, n, input, output, ratio)
		if !slices.Equal(in, wantIn) || !slices.Equal(out, wantOut) {
			t.Errorf("%s: %v %v, want %v %v", name, in, out, wantIn, wantOut)
		}
	}
	check("1k1k", 0, 10, 1024, 1024, 0.8, []int{991, 866, 936, 1011, 886, 1014, 922, 828, 840, 855}, []int{906, 889, 907, 959, 877, 1012, 858, 906, 993, 907})
	check("8k1k", 0, 4, 8192, 1024, 0.8, []int{7237, 7112, 7769, 7388}, []int{1014, 922, 828, 840})
	check("seed 42", 42, 4, 1024, 1024, 0.8, []int{921, 998, 911, 833}, []int{925, 890, 1007, 839})
	check("constant", 0, 2, 1024, 8, 1, []int{1024, 1024}, []int{8, 8})
}
