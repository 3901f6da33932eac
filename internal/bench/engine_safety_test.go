package bench

import (
	"math"
	"strings"
	"testing"
)

func TestGauge(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want float64
		ok   bool
	}{
		"two label sets":   {"hits_total{a=\"x\"} 1\nhits_total{a=\"}\"} 2\nhits_total_more 5\n", 3, true},
		"no labels":        {"# HELP hits_total 9\nhits_total 1.5 1700000000\n", 1.5, true},
		"exemplar":         {"hits_total{a=\"x\"} 4 # {trace_id=\"7\"} 0.5 1.0\n", 4, true},
		"no number":        {"hits_total NaN\n", 0, false},
		"one is no number": {"hits_total{a=\"x\"} 1\nhits_total{a=\"y\"} +Inf\n", 0, false},
		"cut line":         {"hits_total 1\nhits_total{a=\"" + strings.Repeat("x", 2<<20) + "\"} 1\n", 0, false},
		"nothing":          {"", 0, false},
	} {
		got := gauge([]byte(c.page), "hits_total")
		if ok := got != nil; ok != c.ok || ok && *got != c.want {
			t.Errorf("%s: got %v, want %v, %v", name, got, c.want, c.ok)
		}
	}
}

// What the server calls a counter can be written into a raw file, or is none.
func FuzzGauge(f *testing.F) {
	for _, s := range []string{"hits 1", "hits{a=\"b\"} 1e300\nhits 1e308", "hits NaN", "hits{} -Inf 5", "hits 0x1p-2", "hits_total 1 # {a=\"}\"} 2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		sum := gauge(page, "hits")
		if sum == nil {
			return
		}
		if math.IsNaN(*sum) || math.IsInf(*sum, 0) {
			t.Fatalf("gauge(%q): got %v", page, *sum)
		}
		if _, err := spell(*sum); err != nil {
			t.Errorf("gauge(%q): %v", page, err)
		}
	})
}
