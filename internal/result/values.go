package result

import (
	"math"
	"strconv"
	"strings"
)

// Values are the four figures a report shows. Nil means not measured.
// Throughput is tokens per second and GPU, latency the mean in milliseconds.
type Values struct {
	TotalTPSGPU  *float64 `json:"total-tps-gpu"`
	OutputTPSGPU *float64 `json:"output-tps-gpu"`
	TTFTms       *float64 `json:"ttft-ms"`
	TPOTms       *float64 `json:"tpot-ms"`
}

// Values returns the row's shown figures; times become milliseconds.
func (r Row) Values() Values { return valuesOf(r.Metrics) }

func valuesOf(m map[string]float64) Values {
	return Values{
		TotalTPSGPU:  measured(m, "tput_per_gpu", same),
		OutputTPSGPU: measured(m, "output_tput_per_gpu", same),
		TTFTms:       measured(m, "mean_ttft", milliseconds),
		TPOTms:       measured(m, "mean_tpot", milliseconds),
	}
}

func measured(m map[string]float64, name string, unit func(float64) float64) *float64 {
	v, ok := m[name]
	if !ok || !finite(v) || v < 0 {
		return nil
	}
	v = unit(v)
	return &v
}

func same(v float64) float64 { return v }

// milliseconds moves the decimal point of the shortest spelling instead of
// multiplying, so that a published 0.01853 s is 18.53 ms and not
// 18.529999999999998.
func milliseconds(seconds float64) float64 {
	text := strconv.FormatFloat(seconds, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	n, err := strconv.Atoi(exponent)
	if err != nil {
		return seconds * 1000
	}
	ms, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(n+3), 64)
	if err != nil {
		return seconds * 1000
	}
	return ms
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
