package sim

// prefixCache remembers which prompt blocks the engine has seen, like the
// block cache of a real one: a block is found only together with everything
// before it. It forgets the oldest blocks first. Not safe for concurrent use.
type prefixCache struct {
	seen map[uint64]bool
	ring []uint64
	next int
}

const (
	blockTokens  = 16
	cachedBlocks = 1 << 16
)

func newPrefixCache(blocks int) *prefixCache {
	return &prefixCache{seen: map[uint64]bool{}, ring: make([]uint64, 0, blocks)}
}

// take returns how many leading tokens of the prompt are cached and caches all
// its full blocks. The last token is always computed.
func (c *prefixCache) take(blocks []uint64, tokens int) (cached int) {
	hit := true
	for _, b := range blocks {
		hit = hit && c.seen[b]
		if hit {
			cached += blockTokens
		} else {
			c.add(b)
		}
	}
	return max(0, min(cached, tokens-1))
}

func (c *prefixCache) add(block uint64) {
	if c.seen[block] {
		return
	}
	if len(c.ring) < cap(c.ring) {
		c.ring = append(c.ring, block)
	} else {
		delete(c.seen, c.ring[c.next])
		c.ring[c.next] = block
		c.next = (c.next + 1) % len(c.ring)
	}
	c.seen[block] = true
}

// promptBlocks counts the tokens of a prompt and names its full blocks; a name
// depends on every token up to the block's end.
func promptBlocks(text string) (blocks []uint64, tokens int) {
	h := uint64(fnvOffset)
	eachToken(text, func(token string) {
		for i := 0; i < len(token); i++ {
			h = (h ^ uint64(token[i])) * fnvPrime
		}
		h = (h ^ 0xff) * fnvPrime // token boundary
		tokens++
		if tokens%blockTokens == 0 {
			blocks = append(blocks, h)
		}
	})
	return blocks, tokens
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)
