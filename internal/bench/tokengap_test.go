package bench

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

func TestTokenGaps(t *testing.T) {
	ms := time.Millisecond
	for name, c := range map[string]struct {
		gaps  []time.Duration
		gains []int
		want  []float64
	}{
		"one each":               {[]time.Duration{10 * ms, 20 * ms}, []int{1, 1}, []float64{0.01, 0.02}},
		"three at once":          {[]time.Duration{30 * ms, 10 * ms}, []int{3, 1}, []float64{0.01, 0.01, 0.01, 0.01}},
		"a message without any":  {[]time.Duration{10 * ms, 20 * ms}, []int{0, 2}, []float64{0.015, 0.015}},
		"the last one has none":  {[]time.Duration{10 * ms, 20 * ms}, []int{1, 0}, []float64{0.01}},
		"not counted by anybody": {[]time.Duration{10 * ms}, nil, nil},
	} {
		got := Request{TextITLs: c.gaps, TokenGains: c.gains}.tokenGaps()
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// Counts in the messages weigh the gaps; counts that cannot be true do not.
func TestCountsInMessages(t *testing.T) {
	message := func(n int) string {
		return fmt.Sprintf(`data: {"choices":[{"text":"w"}],"usage":{"prompt_tokens":4,"completion_tokens":%d}}`, n)
	}
	for name, c := range map[string]struct {
		lines []string
		want  []int
	}{
		"several tokens to a message": {[]string{message(2), message(5), message(6)}, []int{3, 1}},
		"not in every message":        {[]string{message(1), `data: {"choices":[{"text":"w"}]}`, message(3)}, nil},
		"falling":                     {[]string{message(3), message(2), message(4)}, nil},
		"more than were asked for":    {[]string{message(1), message(1000000), message(1000001)}, nil},
		"only one message":            {[]string{message(4)}, nil},
	} {
		x := &exchange{delays: &delays{}, plan: plan{output: 8}, prompt: -1, completion: -1, cached: -1}
		for i, line := range c.lines {
			x.stamp = int64(i + 1)
			x.line([]byte(line))
			x.line(nil)
		}
		x.line([]byte("data: [DONE]"))
		x.finish(true)
		if got := x.request(0); got.Error != "" || !slices.Equal(got.TokenGains, c.want) {
			t.Errorf("%s: error %q, gains %v, want %v", name, got.Error, got.TokenGains, c.want)
		}
	}
}
