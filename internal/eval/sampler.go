package eval

import (
	"math/bits"
	"slices"
)

// sampler draws few-shot examples in the reference's order: one MT19937 stream
// for the whole eval, seeded with the list [1234], as many leading bits of a
// word as the pool's size has, words out of range drawn again.
type sampler struct {
	pool  int
	state [624]uint32
	next  int
}

const fewShotSeed = 1234

// newSampler seeds the stream by list (base seed 19650218).
func newSampler(pool int) *sampler {
	s := &sampler{pool: pool, next: 624}
	s.state[0] = 19650218
	for i := 1; i < 624; i++ {
		s.state[i] = 1812433253*(s.state[i-1]^s.state[i-1]>>30) + uint32(i)
	}
	i := 1
	for range 624 {
		s.state[i] = (s.state[i] ^ (s.state[i-1]^s.state[i-1]>>30)*1664525) + fewShotSeed
		i = s.step(i)
	}
	for range 623 {
		s.state[i] = (s.state[i] ^ (s.state[i-1]^s.state[i-1]>>30)*1566083941) - uint32(i)
		i = s.step(i)
	}
	s.state[0] = 0x80000000
	return s
}

// step is the next place of the seeding loops, which skip place 0 and copy the
// last word there on the way.
func (s *sampler) step(i int) int {
	if i < 623 {
		return i + 1
	}
	s.state[0] = s.state[623]
	return 1
}

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
		if v := int(s.word() >> shift); v < s.pool {
			return v
		}
	}
}

func (s *sampler) word() uint32 {
	if s.next == 624 {
		s.refill()
	}
	y := s.state[s.next]
	s.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (s *sampler) refill() {
	for i := range 624 {
		y := s.state[i]&0x80000000 | s.state[(i+1)%624]&0x7fffffff
		v := s.state[(i+397)%624] ^ y>>1
		if y&1 == 1 {
			v ^= 0x9908b0df
		}
		s.state[i] = v
	}
	s.next = 0
}
