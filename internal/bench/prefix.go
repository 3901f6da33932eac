package bench

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
)

// prefixCounters are the counters in which engines report prompt tokens taken
// from a prefix cache, as of 2026.
var prefixCounters = []string{
	"vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits",
	"sglang:cached_tokens_total", "prefix_cache_hits_total", "prompt_tokens_cached_total",
}

// prefixHits sums the server's prefix-cache counter, nil when it reports none.
func (s side) prefixHits(ctx context.Context) *float64 {
	page, err := s.fetch(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil
	}
	for _, name := range prefixCounters {
		if sum, ok := counter(page, name); ok {
			return &sum
		}
	}
	return nil
}

// counter sums a counter over its label sets in Prometheus text.
func counter(page []byte, name string) (sum float64, ok bool) {
	lines := bufio.NewScanner(bytes.NewReader(page))
	for lines.Scan() {
		rest, found := strings.CutPrefix(lines.Text(), name)
		if !found || rest == "" || (rest[0] != '{' && rest[0] != ' ') {
			continue
		}
		if end := strings.LastIndexByte(rest, '}'); end >= 0 {
			rest = rest[end+1:]
		}
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		if v, err := strconv.ParseFloat(fields[0], 64); err == nil {
			sum, ok = sum+v, true
		}
	}
	return sum, ok
}
