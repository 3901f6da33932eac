package bench

import (
	"math"
	"slices"
	"time"
)

// Stats describes a sample, in the unit of the sample. An empty sample has
// zeros everywhere, as in the reference.
type Stats struct {
	N                 int
	Mean, Median, Std float64 // Std is the population's
	Percentiles       map[float64]float64
}

// DefaultPercentiles are the ones of the published files.
var DefaultPercentiles = []float64{90, 99, 99.9}

// Describe computes the statistics of a sample.
func Describe(sample []float64, percentiles []float64) Stats {
	s := Stats{N: len(sample), Percentiles: make(map[float64]float64, len(percentiles))}
	for _, p := range percentiles {
		s.Percentiles[p] = 0
	}
	if len(sample) == 0 {
		return s
	}
	n := float64(len(sample))
	s.Mean = pairwise(sample) / n
	squares := make([]float64, len(sample))
	for i, x := range sample {
		squares[i] = (x - s.Mean) * (x - s.Mean)
	}
	s.Std = math.Sqrt(pairwise(squares) / n)
	sorted := slices.Sorted(slices.Values(sample))
	half := len(sorted) / 2
	s.Median = sorted[half]
	if len(sorted)%2 == 0 {
		s.Median = (sorted[half-1] + sorted[half]) / 2
	}
	for _, p := range percentiles {
		s.Percentiles[p] = percentile(sorted, p)
	}
	return s
}

// scaled multiplies every statistic after it was computed, as the reference
// does with its thousand.
func (s Stats) scaled(by float64) Stats {
	scaled := Stats{N: s.N, Mean: s.Mean * by, Median: s.Median * by, Std: s.Std * by,
		Percentiles: make(map[float64]float64, len(s.Percentiles))}
	for p, v := range s.Percentiles {
		scaled.Percentiles[p] = v * by
	}
	return scaled
}

// percentile interpolates in a sorted sample. From the middle of a step on it
// counts from the upper neighbour: that is what fixes the last bit.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	h := float64(len(sorted)-1) * (p / 100)
	k := int(h)
	if k >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	t := h - float64(k)
	low, high := sorted[k], sorted[k+1]
	if t >= 0.5 {
		return high - (high-low)*(1-t)
	}
	return low + (high-low)*t
}

// pairwise sums halves separately, which keeps the error small and is what the
// reference's array library does.
func pairwise(x []float64) float64 {
	if len(x) <= 8 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum
	}
	half := len(x) / 2
	return pairwise(x[:half]) + pairwise(x[half:])
}

// Totals are the sums and rates of a result. Requests that failed count only
// in Failed.
type Totals struct {
	Completed, Failed     int
	InputTokens           int
	OutputTokens          int
	Unknown               int // completed requests whose tokens nobody counted
	EarlyStops            int // fewer tokens than asked for
	RequestsPerSecond     float64
	OutputPerSecond       float64 // output tokens
	TokensPerSecond       float64 // input and output tokens
	GoodRequestsPerSecond float64
}

// SLO is the longest acceptable time by metric: ttft, tpot, e2el.
type SLO map[string]time.Duration

// Totals sums up the run. With Unknown above zero the token figures are lower
// bounds and must not be published as values.
func (r Result) Totals(slo SLO) Totals {
	var t Totals
	good := 0
	for _, q := range r.Requests {
		if q.Error != "" {
			t.Failed++
			continue
		}
		t.Completed++
		t.InputTokens += q.InputTokens
		t.OutputTokens += q.OutputTokens
		if q.TokensFrom == "" {
			t.Unknown++
		} else if q.OutputTokens < q.Requested {
			t.EarlyStops++
		}
		if q.meets(slo) {
			good++
		}
	}
	if d := r.Duration.Seconds(); d > 0 {
		t.RequestsPerSecond = float64(t.Completed) / d
		t.OutputPerSecond = float64(t.OutputTokens) / d
		t.TokensPerSecond = float64(t.InputTokens+t.OutputTokens) / d
		t.GoodRequestsPerSecond = float64(good) / d
	}
	return t
}

// TPOT is the time per output token after the first; ok is false when fewer
// than two tokens make it meaningless.
func (q Request) TPOT() (seconds float64, ok bool) {
	if q.OutputTokens <= 1 {
		return 0, false
	}
	return (q.Latency - q.TTFT).Seconds() / float64(q.OutputTokens-1), true
}

func (q Request) meets(slo SLO) bool {
	tpot, _ := q.TPOT()
	for name, most := range slo {
		var v float64
		switch name {
		case "ttft":
			v = q.TTFT.Seconds()
		case "tpot":
			v = tpot
		case "e2el":
			v = q.Latency.Seconds()
		}
		if v > most.Seconds() {
			return false
		}
	}
	return true
}

// Families are the metrics of a raw file, in its order.
var Families = []string{"ttft", "tpot", "itl", "e2el"}

// Stats describes one metric in seconds over the successful requests: ttft,
// tpot, itl, e2el, and the corrected first-text and text-itl, which leave out
// messages without text: a chat's opening role and the closing finish reason.
// token-itl weighs those gaps by the tokens that each message brought; it is
// empty unless the server counts them in every message.
// intended-first-text and intended-e2el count from the time at which a request
// should have been sent.
func (r Result) Stats(metric string, percentiles []float64) Stats {
	return Describe(r.sample(metric), percentiles)
}

// sample is the values of one metric, in seconds.
func (r Result) sample(metric string) []float64 {
	var sample []float64
	for _, q := range r.Requests {
		if q.Error != "" {
			continue
		}
		switch metric {
		case "ttft":
			sample = append(sample, q.TTFT.Seconds())
		case "first-text":
			if q.FirstText > 0 {
				sample = append(sample, q.FirstText.Seconds())
			}
		case "tpot":
			if v, ok := q.TPOT(); ok {
				sample = append(sample, v)
			}
		case "itl":
			for _, gap := range q.ITLs {
				sample = append(sample, gap.Seconds())
			}
		case "text-itl":
			for _, gap := range q.TextITLs {
				sample = append(sample, gap.Seconds())
			}
		case "token-itl":
			sample = append(sample, q.tokenGaps()...)
		case "e2el":
			sample = append(sample, q.Latency.Seconds())
		case "intended-first-text":
			if q.FirstText > 0 {
				sample = append(sample, (q.Late() + q.FirstText).Seconds())
			}
		case "intended-e2el":
			sample = append(sample, (q.Late() + q.Latency).Seconds())
		}
	}
	return sample
}
