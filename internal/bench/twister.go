package bench

// Twister is MT19937, seeded as the reference seeds it, so that one seed gives
// the same draws in both clients. It is not safe for concurrent use.
type Twister struct {
	state [624]uint32
	next  int
}

// NewTwister seeds by a number.
func NewTwister(seed uint32) *Twister {
	t := &Twister{next: 624}
	t.state[0] = seed
	for i := 1; i < len(t.state); i++ {
		prev := t.state[i-1]
		t.state[i] = 1812433253*(prev^prev>>30) + uint32(i)
	}
	return t
}

// NewTwisterOf seeds by a list of numbers, which must not be empty. A list of
// one is another stream than that number alone.
func NewTwisterOf(seeds ...uint32) *Twister {
	const n = 624
	t := NewTwister(19650218)
	i, j := 1, 0
	step := func() { // skips place 0 and copies the last word there on the way
		if i++; i == n {
			t.state[0], i = t.state[n-1], 1
		}
	}
	for range max(n, len(seeds)) {
		prev := t.state[i-1]
		t.state[i] = (t.state[i] ^ (prev^prev>>30)*1664525) + seeds[j] + uint32(j)
		j = (j + 1) % len(seeds)
		step()
	}
	for range n - 1 {
		prev := t.state[i-1]
		t.state[i] = (t.state[i] ^ (prev^prev>>30)*1566083941) - uint32(i)
		step()
	}
	t.state[0] = 0x80000000
	return t
}

// Word is the next 32 random bits.
func (t *Twister) Word() uint32 {
	if t.next == len(t.state) {
		t.refill()
	}
	y := t.state[t.next]
	t.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (t *Twister) refill() {
	const n, m = 624, 397
	for i := range n {
		y := t.state[i]&0x80000000 | t.state[(i+1)%n]&0x7fffffff
		v := t.state[(i+m)%n] ^ y>>1
		if y&1 == 1 {
			v ^= 0x9908b0df
		}
		t.state[i] = v
	}
	t.next = 0
}

// between draws a whole number in [low, high]. Equal limits draw nothing;
// otherwise words are masked and rejected, one word a try.
func (t *Twister) between(low, high int) int {
	span := uint32(high - low)
	if span == 0 {
		return low
	}
	mask := span
	for shift := 1; shift < 32; shift *= 2 {
		mask |= mask >> shift
	}
	for {
		if v := t.Word() & mask; v <= span {
			return low + int(v)
		}
	}
}
