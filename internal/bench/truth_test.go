package bench

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// truth holds the readings of a run against the times at which the server says
// it sent each token, in milliseconds: never against the nominal interval.
type truth struct {
	ttftTrue, ttftRead float64 // medians
	itlTrue, itlRead   float64
	lateP50, lateP99   float64 // read minus sent, of all tokens
	tokens             int
}

// measureTruth runs streams requests at a time, each of tokens tokens, rounds
// times over, against a rig on the other core.
func measureTruth(b *testing.B, every time.Duration, streams, tokens, rounds int) (truth, Result) {
	b.Helper()
	onCore(b, 1)
	target := startRig(b, rigPlan{Core: 0, Every: every, Together: true})
	ctx := context.Background()
	target, w, addr, err := settle(ctx, target, Workload{Requests: rounds * streams, Concurrency: streams, InputTokens: 16, OutputTokens: tokens})
	if err != nil {
		b.Fatal(err)
	}
	s := newSide(target)
	defer s.close()
	plans, _, err := plans(ctx, s, w, measuring, w.Requests)
	if err != nil {
		b.Fatal(err)
	}
	for i := range plans {
		plans[i].wire = bytes.Replace(plans[i].wire, []byte("\r\n"), fmt.Appendf(nil, "\r\nX-Index: %d\r\n", i), 1)
	}
	l, err := newLoop(addr, streams)
	if err != nil {
		b.Fatal(err)
	}
	defer l.close()
	l.idle, l.deadline = w.IdleTimeout, w.Deadline
	r, xs, err := measure(ctx, l, s, plans, nil)
	if err != nil {
		b.Fatal(err)
	}
	return compareTruth(b, xs, sentTimes(b, target)), r
}

func compareTruth(b *testing.B, xs []*exchange, sent map[int][]int64) truth {
	b.Helper()
	var ttftTrue, ttftRead, itlTrue, itlRead, late []float64
	for i, x := range xs {
		stamps := sent[i]
		if x.kind != "" || len(stamps) != len(x.itls)+1 {
			b.Fatalf("request %d: error %q, %d tokens read, %d sent", i, x.failure, len(x.itls)+1, len(stamps))
		}
		ttftTrue = append(ttftTrue, float64(stamps[0]-x.sent)/1e6)
		ttftRead = append(ttftRead, float64(x.first-x.sent)/1e6)
		read := x.first
		for k, at := range stamps {
			if k > 0 {
				itlTrue = append(itlTrue, float64(at-stamps[k-1])/1e6)
				itlRead = append(itlRead, float64(x.itls[k-1])/1e6)
				read += int64(x.itls[k-1])
			}
			late = append(late, float64(read-at)/1e6)
		}
	}
	slices.Sort(late)
	return truth{Describe(ttftTrue, nil).Median, Describe(ttftRead, nil).Median, Describe(itlTrue, nil).Median, Describe(itlRead, nil).Median,
		percentile(late, 50), percentile(late, 99), len(late)}
}

// limits of the error of a median.
const (
	truthTTFT = 1.0  // ms
	truthITL  = 0.01 // of the true one
)

func benchmarkTruth(b *testing.B, every time.Duration, streams, tokens, rounds int) {
	for b.Loop() {
		got, r := measureTruth(b, every, streams, tokens, rounds)
		ttft, itl := got.ttftRead-got.ttftTrue, (got.itlRead-got.itlTrue)/got.itlTrue
		b.Logf("TTFT p50: truth %.3f ms, reading %.3f ms, error %+.3f ms", got.ttftTrue, got.ttftRead, ttft)
		b.Logf("ITL p50:  truth %.3f ms, reading %.3f ms, error %+.3f %%", got.itlTrue, got.itlRead, 100*itl)
		b.Logf("read delay p50 %.3f ms, p99 %.3f ms of %d tokens; client %.2f cores, %s %v", got.lateP50, got.lateP99, got.tokens,
			r.Health.ClientCPU, r.Health.Verdict, r.Health.Reasons)
		b.ReportMetric(got.ttftTrue, "ttft-true-ms")
		b.ReportMetric(got.ttftRead, "ttft-read-ms")
		b.ReportMetric(1000*ttft, "ttft-error-µs")
		b.ReportMetric(got.itlTrue, "itl-true-ms")
		b.ReportMetric(got.itlRead, "itl-read-ms")
		b.ReportMetric(100*itl, "itl-error-%")
		b.ReportMetric(r.Health.ClientCPU, "cores")
		if math.Abs(ttft) > truthTTFT || math.Abs(itl) > truthITL {
			b.Errorf("TTFT p50 is off by %.3f ms, ITL p50 by %.2f %%: limits %.0f ms and %.0f %%", ttft, 100*itl, truthTTFT, 100*truthITL)
		}
	}
}

// BenchmarkTruth2048x20ms reads 2,048 streams with 20 ms between tokens, about
// 100,000 tokens a second, from a server on the other core. Run it with
// -benchtime 1x.
func BenchmarkTruth2048x20ms(b *testing.B) { benchmarkTruth(b, 20*time.Millisecond, 2048, 24, 8) }

// BenchmarkTruth256x5ms reads 256 streams with 5 ms between tokens. Run it with
// -benchtime 1x.
func BenchmarkTruth256x5ms(b *testing.B) { benchmarkTruth(b, 5*time.Millisecond, 256, 64, 16) }
