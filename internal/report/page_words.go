package report

import (
	"html/template"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/gate"
)

// pageWords are the words and colours of the pages. A colour never stands
// alone: the word beside it says the same.
func pageWords() template.FuncMap {
	return template.FuncMap{
		"key": familyKey, "file": familyFile, "tone": tone, "word": standing,
		"imageName": imageName, "imageTag": imageTag,
		"verdictTone": verdictTone,
		"verdictWord": func(v string) string { return verdictWord(compare.Verdict(v)) },
		"answerTone":  answerTone, "sentence": capitalised, "mark": func(v string) string { return mark(compare.Verdict(v)) },
		"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"day":   func(t time.Time) string { return t.UTC().Format(time.DateOnly) },
		"clock": func(t time.Time) string { return t.UTC().Format("15:04") + " UTC" },
	}
}

// familyKey is the key of "configs/x-master.yaml:key".
func familyKey(id string) string {
	if i := strings.LastIndexByte(id, ':'); i >= 0 {
		return id[i+1:]
	}
	return id
}

func familyFile(id string) string {
	if i := strings.LastIndexByte(id, ':'); i >= 0 {
		return id[:i]
	}
	return ""
}

// imageName is "name:" of "name:tag", or of "name@digest" with the @; imageTag
// is the rest. Together they are the reference; a page may break it between.
func imageName(ref string) string { return ref[:imageSplit(ref)] }
func imageTag(ref string) string  { return ref[imageSplit(ref):] }

func imageSplit(ref string) int {
	if i := strings.IndexByte(ref, '@'); i >= 0 {
		return i + 1
	}
	return strings.LastIndexByte(ref, ':') + 1
}

// standing is where a candidate stands, in one word or two.
func standing(r BoardRow) string {
	switch {
	case r.Outcome != "" && (r.State == "merged" || r.State == "closed"):
		return r.Outcome + ", " + r.State
	case r.Outcome != "":
		return r.Outcome
	case r.State != "":
		return r.State
	}
	return "unknown"
}

// tone is the class that colours the word.
func tone(r BoardRow) string {
	word, _, _ := strings.Cut(standing(r), ",")
	switch word {
	case "validated":
		return "good"
	case "regressed", "incompatible", "failed", "unexpected-error", "blocked", "tampered":
		return "bad"
	case "capacity-deferred", "readiness-blocked", "uncertain", "waiting":
		return "warn"
	case "running":
		return "info"
	}
	return ""
}

func verdictTone(v string) string {
	switch v {
	case "better":
		return "good"
	case "worse":
		return "bad"
	case "inconclusive":
		return "warn"
	}
	return ""
}

// answerTone colours the answer of a gate.
func answerTone(a gate.Answer) string {
	switch a {
	case gate.Pass:
		return "good"
	case gate.Fail:
		return "bad"
	}
	return "warn"
}

type boardCount struct {
	Name string
	N    int
}

// boardCounts sums up the rows: open ones, then each outcome that occurs.
func boardCounts(rows []BoardRow) []boardCount {
	counts := []boardCount{{"open", 0}}
	at := map[string]int{"": 0}
	for _, r := range rows {
		i, ok := at[r.Outcome]
		if !ok {
			i = len(counts)
			at[r.Outcome] = i
			counts = append(counts, boardCount{r.Outcome, 0})
		}
		counts[i].N++
	}
	return counts
}

// capitalised begins with a capital.
func capitalised(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
