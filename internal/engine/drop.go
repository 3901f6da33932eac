package engine

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// drop is the edit that takes a flag and its values out of the file. It is nil
// when they do not stand there as they are, one behind the other.
func (w *walker) drop(words []token) *recipe.Edit {
	words = slices.Clone(words)
	for i, t := range words {
		if i > 0 && w.wholeWord(&words[i]) {
			continue
		}
		if t.start < 0 || t.end > len(w.src) || t.start >= t.end || string(w.src[t.start:t.end]) != t.text {
			return nil
		}
	}
	start, end, ok := 0, 0, false
	switch {
	case !recipe.IsDeclared(w.name):
		start, end, ok = w.shellRange(words)
	case w.listItem(words[0]):
		start, end, ok = w.blockRange(words)
	default:
		start, end, ok = w.flowRange(words)
	}
	if !ok {
		return nil
	}
	return &recipe.Edit{Start: start, End: end, Old: string(w.src[start:end])}
}

// wholeWord gives a value the place of its whole word with its quotes. It is
// false when the value is only a part of a word, or its expansion does more.
func (w *walker) wholeWord(t *token) bool {
	word := w.whole[t.start]
	if word == nil || effects(word) {
		return false
	}
	start, end := int(word.Pos().Offset()), int(word.End().Offset())
	if t.end < end-(t.start-start) {
		return false
	}
	t.start, t.end = start, end
	return true
}

// between tells what stands between neighbouring words.
func (w *walker) between(words []token, pattern *regexp.Regexp) bool {
	for i := 1; i < len(words); i++ {
		if words[i].start < words[i-1].end || !pattern.Match(w.src[words[i-1].end:words[i].start]) {
			return false
		}
	}
	return true
}

var (
	shellGap = regexp.MustCompile(`^(?:[ \t]|\\\r?\n)+$`)
	flowGap  = regexp.MustCompile(`^\s*,\s*$`)
	flowEnd  = regexp.MustCompile(`^\s*[,\]]`)
	blockGap = regexp.MustCompile(`^[ \t]*\r?\n[ \t]*- +$`)
)

// shellRange takes the spaces in front along.
func (w *walker) shellRange(words []token) (start, end int, ok bool) {
	start, end = words[0].start, words[len(words)-1].end
	before := bytes.TrimRight(w.src[:start], " \t")
	first := len(before) == 0 || before[len(before)-1] == '\n' || before[len(before)-1] == '('
	after := end == len(w.src) || strings.IndexByte(" \t\r\n;&)|", w.src[end]) >= 0
	if !w.between(words, shellGap) || !after || !first && len(before) == start {
		return 0, 0, false
	}
	return len(before), end, true
}

// flowRange takes the comma in front along: [a, --x, b].
func (w *walker) flowRange(words []token) (start, end int, ok bool) {
	start, end = words[0].start, words[len(words)-1].end
	before := bytes.TrimRight(w.src[:start], " \t\r\n")
	if !w.between(words, flowGap) || !bytes.HasSuffix(before, []byte(",")) || !flowEnd.Match(w.src[end:]) {
		return 0, 0, false
	}
	return len(before) - 1, end, true
}

// listItem reports whether a word is an item of a YAML list with one a line.
func (w *walker) listItem(t token) bool {
	line := w.src[bytes.LastIndexByte(w.src[:t.start], '\n')+1 : t.start]
	return strings.TrimSpace(string(line)) == "-"
}

// blockRange takes whole lines.
func (w *walker) blockRange(words []token) (start, end int, ok bool) {
	start = bytes.LastIndexByte(w.src[:words[0].start], '\n') + 1
	end = words[len(words)-1].end
	rest := w.src[end:]
	line := bytes.IndexByte(rest, '\n') + 1
	if line == 0 || len(bytes.TrimSpace(rest[:line])) > 0 || !w.between(words, blockGap) {
		return 0, 0, false
	}
	return start, end + line, true
}
