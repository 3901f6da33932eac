package eval

import (
	"math/bits"
	"slices"

	"github.com/refit-bench/refit/internal/bench"
)

// sampler draws few-shot examples in the reference's order: one MT19937 stream
// for the whole eval, seeded with the list [1234], as many leading bits of a
// word as the pool's size has, words out of range drawn again.
type sampler struct {
	pool   int
	stream *bench.Twister
}

const fewShotSeed = 1234

func newSampler(pool int) *sampler { return &sampler{pool, bench.NewTwisterOf(fewShotSeed)} }

// sample draws k different places of the pool.
func (s *sampler) sample(k int) []int {
	out := make([]int, 0, k)
	for len(out) < k {
		if i := s.below(); !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

func (s *sampler) below() int {
	shift := 32 - bits.Len(uint(s.pool))
	for {
		if v := int(s.stream.Word() >> shift); v < s.pool {
			return v
		}
	}
}
