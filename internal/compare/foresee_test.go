package compare

import (
	"math"
	"strings"
	"testing"
)

// The half width with n new runs is 2.228139 a sqrt(1/3+1/n), the nearer limit
// ln 1.03 = 0.0295588. Worse needs, for the least of five p values, 0.025/5:
// the 0.995 quantile of t with 10 degrees of freedom, 3.169273.
func TestForesee(t *testing.T) {
	bad := math.Log(0.97)
	tests := []struct {
		name   string
		a      float64
		x      []float64
		curve  int
		points []int
		reason string
	}{
		// n=1: 0.025728, inside.
		{"settled", 0.01, []float64{0, 0, 0, 0, 0}, 0, []int{0, 0, 0, 0, 0}, "5 of 5 points no-change"},
		// n=2: 0.030510, n=3: 0.027289.
		{"two-more", 0.015, []float64{0, 0, 0, 0, 0}, 2, []int{2, 2, 2, 2, 2}, "2 more runs of the new image would settle it (p c1 decides)"},
		// n=20: 0.029591, n=21: 0.029499.
		{"twenty-more", 0.02145, []float64{0, 0, 0, 0, 0}, 20, []int{20, 20, 20, 20, 20}, "20 more runs"},
		// n=21: 0.029568.
		{"too-many", 0.0215, []float64{0, 0, 0, 0, 0}, 0, []int{0, 0, 0, 0, 0}, "not within 20 more runs of the new image (p c1 decides)"},
		// at 0, n=1: 0.030874, n=2: 0.024408; at 0.006, where 0.0235588 is left, n=3: 0.021831.
		{"last-point-decides", 0.012, []float64{0, 0, 0, 0.006, 0}, 2, []int{1, 1, 1, 2, 1}, "2 more runs of the new image would settle it (p c8 decides)"},
		// d = 0.0135 beyond the limit; 3.169273 a sqrt(1/3+1/n) is n=1: 0.018298, n=2: 0.014466, n=3: 0.012939.
		{"turns-worse", 0.005, []float64{0, bad - 0.0135, 0, 0, 0}, 2, []int{0, 2, 0, 0, 0}, "2 more runs of the new image would settle it (p c2 decides)"},
		// d = 0.0150: n=2 is enough.
		{"turns-worse-at-once", 0.005, []float64{0, bad - 0.0150, 0, 0, 0}, 1, []int{0, 1, 0, 0, 0}, "1 more run of the new image would settle it"},
		{"on-the-limit", 0.005, []float64{bad, 0, 0, 0, 0}, 0, []int{0, 0, 0, 0, 0}, "not within 20 more runs of the new image (p c1 decides)"},
		// the curve is settled, its second point is not: 3.169273 becomes the
		// quantile for 0.025/4, 3.0382; n=1: 0.0175, n=2: 0.0139, n=3: 0.0124.
		{"worse-already", 0.005, []float64{bad - 0.2, bad - 0.0145, 0, 0, 0}, 0, []int{0, 1, 0, 0, 0}, "1 of 5 points worse"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Judge(OutputTPS, true, spreadPoints(tt.a, tt.x...))
			if c.MoreRuns != tt.curve || !strings.HasSuffix(c.Reason, tt.reason) && !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("curve needs %d (%s), want %d (%s)", c.MoreRuns, c.Reason, tt.curve, tt.reason)
			}
			for i, p := range c.Points {
				if p.MoreRuns != tt.points[i] {
					t.Errorf("point %d needs %d (%s), want %d", i, p.MoreRuns, p.Reason, tt.points[i])
				}
				if open := strings.Contains(p.Reason, "more run"); open != (p.Verdict == Inconclusive) {
					t.Errorf("point %d is %s: %s", i, p.Verdict, p.Reason)
				}
			}
		})
	}
}

// What is foreseen is what then happens when the mean stays.
func TestForeseenComesTrue(t *testing.T) {
	points := spreadPoints(0.015, 0, 0, 0, 0, 0)
	more := Judge(OutputTPS, true, points).MoreRuns
	for n := 1; n <= more; n++ {
		for i := range points {
			points[i].New = append(points[i].New, points[i].New[0])
		}
		if c := Judge(OutputTPS, true, points); (c.Verdict == NoChange) != (n == more) {
			t.Errorf("after %d more runs of %d: %s", n, more, c)
		}
	}
}

func TestForeseeNothing(t *testing.T) {
	points := spreadPoints(0.015, 0, 0, 0)
	points[2].New = nil
	c := Judge(OutputTPS, true, points)
	if c.MoreRuns != 0 || c.Points[2].MoreRuns != 0 || !strings.Contains(c.Reason, "not every point was measured on both sides") {
		t.Errorf("a point without new runs: %+v", c)
	}
	for i := range points {
		points[i].Old = points[i].Old[:1]
	}
	if c := Judge(OutputTPS, true, points); c.MoreRuns != 0 || strings.Contains(c.Reason, "more run") {
		t.Errorf("no spread: %+v", c)
	}
}
