package bench

import (
	"math"
	"time"
)

// Spacings of an open loop's requests.
const (
	Gamma    = "gamma"    // intervals of the reference client: burstiness 1 is Poisson
	Constant = "constant" // equal intervals
)

// arrivals are the times since the start of a run at which n requests are
// released at the workload's rate: the first at once, each further one an
// interval behind the one before. Intervals come from the reference's generator
// in the state in which the draws before them left it.
//
// The times are absolute. The reference sleeps each interval by itself, so that
// what one sleep is too long delays all that follow.
func arrivals(t *Twister, n int, w Workload) []time.Duration {
	c := chance{Twister: t}
	due := make([]time.Duration, n)
	seconds, scale := 0.0, 1/(w.Rate*w.Burstiness)
	for i := range due {
		due[i] = time.Duration(math.Round(seconds * 1e9))
		if w.Spacing == Constant {
			seconds = float64(i+1) / w.Rate
			continue
		}
		seconds += c.gamma(w.Burstiness) * scale
	}
	return due
}

// chance draws the distributions that the reference draws, word for word: one
// seed gives both clients the same arrivals.
type chance struct {
	*Twister
	spare  float64 // normal values come in pairs
	spared bool
}

// uniform is in [0, 1), of 53 bits.
func (c *chance) uniform() float64 {
	high, low := c.Word()>>5, c.Word()>>6
	return (float64(high)*(1<<26) + float64(low)) / (1 << 53)
}

// exponential has the mean 1.
func (c *chance) exponential() float64 { return -math.Log(1 - c.uniform()) }

// normal has the mean 0 and the deviation 1: Marsaglia's polar method. The
// second value of a pair is given out first.
func (c *chance) normal() float64 {
	if c.spared {
		c.spared = false
		return c.spare
	}
	for {
		x := 2*c.uniform() - 1
		y := 2*c.uniform() - 1
		if r := x*x + y*y; r < 1 && r != 0 {
			f := math.Sqrt(-2 * math.Log(r) / r)
			c.spare, c.spared = f*x, true
			return f * y
		}
	}
}

// gamma has the given shape and the scale 1.
func (c *chance) gamma(shape float64) float64 {
	switch {
	case shape == 1:
		return c.exponential()
	case shape < 1:
		return c.gammaBelowOne(shape)
	}
	return c.gammaAboveOne(shape)
}

// gammaBelowOne is the rejection method of Ahrens and Dieter (1974), with an
// exponential value to compare with.
func (c *chance) gammaBelowOne(shape float64) float64 {
	for {
		u, v := c.uniform(), c.exponential()
		if u <= 1-shape {
			if x := math.Pow(u, 1/shape); x <= v {
				return x
			}
			continue
		}
		y := -math.Log((1 - u) / shape)
		if x := math.Pow(1-shape+shape*y, 1/shape); x <= v+y {
			return x
		}
	}
}

// gammaAboveOne is the method of Marsaglia and Tsang (2000).
func (c *chance) gammaAboveOne(shape float64) float64 {
	b := shape - 1.0/3
	scale := 1 / math.Sqrt(9*b)
	for {
		x, v := 0.0, 0.0
		for v <= 0 {
			x = c.normal()
			v = 1 + scale*x
		}
		v = v * v * v
		u := c.uniform()
		if u < 1-0.0331*(x*x)*(x*x) || math.Log(u) < 0.5*x*x+b*(1-v+math.Log(v)) {
			return b * v
		}
	}
}
