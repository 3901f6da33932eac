package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxResult  = 64 << 10 // bytes of a result
	maxElement = 256      // elements of a list, to begin with
	maxText    = 4000     // characters of one text, where a result must be cut
	maxCuts    = 20       // places that are named
)

// bound is a result as JSON of at most limit bytes. A larger one loses the ends
// of its lists and of its long texts, evenly, and cut names what is not shown
// in full. What cannot be made to fit is an error.
func bound(v any, limit int) (raw json.RawMessage, cut []string, err error) {
	raw, err = json.Marshal(v)
	if err != nil || len(raw) <= limit {
		return raw, nil, err
	}
	size := len(raw)
	for keep := maxElement; keep > 0; keep /= 2 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var whole any
		if err := d.Decode(&whole); err != nil {
			return nil, nil, err
		}
		s := scissors{keep: keep, lists: map[string]int{}, texts: map[string]int{}}
		short, err := json.Marshal(s.trim("", whole))
		if err != nil {
			return nil, nil, err
		}
		if len(short) <= limit {
			return short, s.cuts(), nil
		}
	}
	return nil, nil, fmt.Errorf("the answer has %d bytes, more than %d, and no lists to shorten: ask for less", size, limit)
}

// scissors shorten a value. By place they remember the length of the longest
// list and of the longest text that they cut.
type scissors struct {
	keep         int
	lists, texts map[string]int
}

func (s *scissors) trim(at string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = s.trim(strings.TrimPrefix(at+"."+key, "."), item)
		}
	case []any:
		if len(v) > s.keep {
			s.lists[at] = max(s.lists[at], len(v))
			v = v[:s.keep]
		}
		for i := range v {
			v[i] = s.trim(at+"[]", v[i])
		}
		return v
	case string:
		if runes := []rune(v); len(runes) > maxText {
			s.texts[at] = max(s.texts[at], len(runes))
			return string(runes[:maxText])
		}
	}
	return v
}

// cuts says what was shortened, lists first, in the order of their places.
func (s *scissors) cuts() []string {
	var out []string
	for _, c := range []struct {
		what string
		kept int
		most map[string]int
	}{{"elements", s.keep, s.lists}, {"characters", maxText, s.texts}} {
		for _, at := range slices.Sorted(maps.Keys(c.most)) {
			out = append(out, fmt.Sprintf("%s: the first %d of up to %d %s", cmp.Or(at, "result"), c.kept, c.most[at], c.what))
		}
	}
	if more := len(out) - maxCuts; more > 0 {
		out = append(out[:maxCuts], fmt.Sprintf("and %d further places", more))
	}
	return out
}
