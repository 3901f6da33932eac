package bench

import (
	"math"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// confidence of the bounds of percentiles.
const confidence = 0.95

// boundRank is the rank (from 1) of the value in a sorted sample of n that is
// not below the distribution's percentile p, with the confidence. Of n
// independent values, those below the percentile are binomial with p/100: the
// value of rank k is below it when at least k of them are. False when even the
// largest value is no such bound: the sample is too small to say anything about
// that percentile (H. A. David and H. N. Nagaraja, Order Statistics, 3rd
// edition, section 7.1).
func boundRank(n int, p float64) (rank int, ok bool) {
	if n == 0 || !(p > 0 && p < 100) {
		return 0, false
	}
	below := distuv.Binomial{N: float64(n), P: p / 100}
	rank = 1 + sort.Search(n, func(k int) bool { return below.CDF(float64(k)) >= confidence })
	return rank, rank <= n
}

// samplesFor is the size of the smallest sample that bounds a percentile.
func samplesFor(p float64) int {
	return int(math.Ceil(math.Log(1-confidence) / math.Log(p/100)))
}

// enough says whether a sample of n bounds a percentile.
func enough(n int, p float64) bool {
	_, ok := boundRank(n, p)
	return ok
}

// Bound is a percentile of a sample and what the distribution's own percentile
// is below of with 95 % confidence, both in the sample's unit.
type Bound struct {
	Value, Upper float64
}

// Bound is nil when the requests are too few. It holds for metrics that are
// one value a request: the gaps of one answer depend on each other, so that
// their number says nothing of what is known about them.
func (r Result) Bound(metric string, p float64) *Bound {
	sample := slices.Sorted(slices.Values(r.sample(metric)))
	rank, ok := boundRank(len(sample), p)
	if !ok || slices.Contains([]string{"itl", "text-itl"}, metric) {
		return nil
	}
	return &Bound{Value: percentile(sample, p), Upper: sample[rank-1]}
}

// boundedAt are the percentiles that are bounded in a raw file.
var boundedAt = []float64{50, 90, 99, 99.9}

// writeBounds writes the bounds of a metric in milliseconds, null for those
// that the sample is too small for.
func (r Result) writeBounds(into *object, name, metric string) {
	var o object
	for _, p := range boundedAt {
		key := "p" + strconv.FormatFloat(p, 'f', -1, 64)
		b := r.Bound(metric, p)
		if b == nil {
			o.null(key)
			continue
		}
		var pair object
		pair.float("value", 1000*b.Value)
		pair.float("upper", 1000*b.Upper)
		o.object(key, &pair)
	}
	into.object(name, &o)
}
