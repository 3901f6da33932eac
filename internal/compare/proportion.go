package compare

import "math"

// Interval is a 95 % interval of a fraction.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// wilson is the score interval of a fraction p of n, for a quantile z of the
// normal distribution (E. B. Wilson, JASA 22, 1927, 209-212).
func wilson(p float64, n int, z float64) Interval {
	m := float64(n)
	middle := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	all := 1 + z*z/m
	return Interval{math.Max(0, (middle-half)/all), math.Min(1, (middle+half)/all)}
}

// newcombe is the hybrid score interval of b-a for fractions of independent
// samples: method 10 of R. G. Newcombe, Statistics in Medicine 17, 1998,
// 873-890.
func newcombe(a, b Sample, z float64) Interval {
	wa, wb := wilson(a.Score, a.N, z), wilson(b.Score, b.N, z)
	d := b.Score - a.Score
	return Interval{
		Low:  d - math.Hypot(b.Score-wb.Low, wa.High-a.Score),
		High: d + math.Hypot(wb.High-b.Score, a.Score-wa.Low),
	}
}

// newcombeP is the two-sided p value that belongs to the interval: the level
// at which one end of it is no difference at all.
func newcombeP(a, b Sample) float64 {
	if a.Score == b.Score {
		return 1
	}
	low, high := 0.0, 40.0
	for range 100 {
		z := (low + high) / 2
		if i := newcombe(a, b, z); i.Low <= 0 && i.High >= 0 {
			high = z
		} else {
			low = z
		}
	}
	return math.Erfc(low / math.Sqrt2)
}
