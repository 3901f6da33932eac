package report

import (
	"math"
	"strconv"
)

// maxTicks is how many steps an axis has at most.
const maxTicks = 6

// ticks are round numbers from zero to the first one at or above top.
func ticks(top float64) []float64 {
	if top <= 0 {
		top = 1
	}
	top = max(top, 1e-6)
	step := round(top)
	var out []float64
	for i := 0; ; i++ {
		v := float64(i) * step
		out = append(out, v)
		if v >= top {
			return out
		}
	}
}

// ticksBetween are the round numbers inside an interval.
func ticksBetween(low, high float64) []float64 {
	step := round(high - low)
	var out []float64
	for i := math.Ceil(low / step); i*step <= high; i++ {
		out = append(out, i*step)
	}
	return out
}

// round is the least of 1, 2, 2.5 and 5 times a power of ten of which maxTicks
// cover a length.
func round(length float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(length/maxTicks)))
	for _, k := range []float64{1, 2, 2.5, 5} {
		if power*k*maxTicks >= length {
			return power * k
		}
	}
	return power * 10
}

// tick spells a number beside an axis.
func tick(v float64) string {
	return grouped(strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64))
}
