package bench

import (
	"math"
	"testing"
	"time"
)

// gaps are the intervals between arrivals, in seconds.
func gaps(due []time.Duration) []float64 {
	var s []float64
	for i := 1; i < len(due); i++ {
		s = append(s, (due[i] - due[i-1]).Seconds())
	}
	return s
}

// The intervals are the reference's array library's gamma distribution at rate
// 10 and seed 0, each of another branch.
func TestArrivalsAreTheReferences(t *testing.T) {
	for burstiness, want := range map[float64][]float64{
		1:   {0.07958745081631101, 0.12559307629658378, 0.09232231458040689, 0.07872011523172708, 0.05510484910954993},
		0.5: {0.06080037795214088, 0.07565434401356312, 0.03589667780057752, 0.03829651349213206, 0.17592170793623915},
		0.9: {0.07730672741405946, 0.0910676435672904, 0.0515654281248657, 0.05408954655530894, 0.3750200368827839},
		2.5: {0.2375480281298032, 0.1124267856673884, 0.24968489299594648, 0.04092098888181459, 0.08073025349132204},
	} {
		due := arrivals(NewTwister(0), len(want)+1, Workload{Rate: 10, Burstiness: burstiness})
		if due[0] != 0 {
			t.Errorf("burstiness %v: the first request waits %v", burstiness, due[0])
		}
		for i, gap := range gaps(due) {
			if math.Abs(gap-want[i]) > 2e-9 { // times are whole nanoseconds
				t.Errorf("burstiness %v, interval %d: got %v, want %v", burstiness, i, gap, want[i])
			}
		}
		c := chance{Twister: NewTwister(0)}
		for i := range want {
			if got := c.gamma(burstiness) * (1 / (10 * burstiness)); math.Abs(got-want[i]) > 1e-15 {
				t.Errorf("burstiness %v, draw %d: got %v, want %v", burstiness, i, got, want[i])
			}
		}
	}
}

// Arrivals follow the draws of the dataset in the one stream of the seed.
func TestArrivalsFollowTheDataset(t *testing.T) {
	d := draw(Workload{InputTokens: 1024, OutputTokens: 1024, RangeRatio: 0.8}, 10, 128256)
	got := gaps(arrivals(d.rest, 4, Workload{Rate: 10, Burstiness: 1}))
	for i, want := range []float64{0.31501700368235064, 0.015123085714272117, 0.2040892272036123} {
		if math.Abs(got[i]-want) > 2e-9 {
			t.Errorf("interval %d: got %v, want %v", i, got[i], want)
		}
	}
}

// A constant rate does not drift: every time is of its own number.
func TestConstantArrivals(t *testing.T) {
	due := arrivals(NewTwister(0), 3001, Workload{Rate: 3000, Spacing: Constant})
	if due[1] != 333333 || due[2] != 666667 || due[3000] != time.Second {
		t.Errorf("got %v, %v and %v", due[1], due[2], due[3000])
	}
}

// Over many draws mean and variance are those of the distribution.
func TestBurstinessIsTheShape(t *testing.T) {
	for _, burstiness := range []float64{0.25, 1, 4} {
		s := Describe(gaps(arrivals(NewTwister(1), 20001, Workload{Rate: 50, Burstiness: burstiness})), nil)
		if math.Abs(s.Mean*50-1) > 0.05 {
			t.Errorf("burstiness %v: mean interval %v, want 0.02", burstiness, s.Mean)
		}
		if spread := s.Std * 50 * math.Sqrt(burstiness); math.Abs(spread-1) > 0.05 {
			t.Errorf("burstiness %v: deviation is %v of what it should be", burstiness, spread)
		}
	}
}
