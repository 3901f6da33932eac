package eval

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// An answer is the text of its one choice, or an error that quotes nothing of it.
func FuzzContent(f *testing.F) {
	for _, s := range []string{`{"choices":[{"message":{"content":"#### 5"}}]}`, `{"choices":[{"message":{"content":null,"reasoning_content":"x"}}]}`, `{"choices":[{"message":{"content":[]}}]}`,
		`{"choices":[{},{}]}`, `{"choices":[{"message":{"content":7}}]}`, `{}`, `null`, `{"choices":[{"message":{"content":""}}]}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := content(data)
		text := got.text
		if err != nil {
			if text != "" || !strings.HasPrefix(err.Error(), "chat answer: ") || strings.Count(err.Error(), "chat answer") > 1 {
				t.Errorf("content(%q): got %q, %v", data, text, err)
			}
			return
		}
		if text != "" && !json.Valid(data) {
			t.Errorf("content(%q): got %q from what is no JSON", data, text)
		}
		Equal(Strict(text), Flexible(text))
	})
}

// What an endpoint says instead of an answer is printable and short.
func FuzzExcerpt(f *testing.F) {
	for _, s := range []string{"not found", "\x1b[2Jx", strings.Repeat("é", 300), "a\r\nb", "\xff\xfe"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := excerpt(data)
		if len(got) > 200 || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("excerpt(%q): got %q", data, got)
		}
	})
}

// A precision is one part of a result's name, whatever the names are.
func FuzzPrecisionOf(f *testing.F) {
	f.Add("tiny_1k1k_fp8_loom_tp8-pp1", "loom")
	f.Add("x_\xff_tp", "\xff")
	f.Add("_loom_tp", "loom")
	f.Add("a__loom_tp1", "loom")
	f.Fuzz(func(t *testing.T, name, framework string) {
		got := precisionOf(name, framework)
		if got == "" || got != "unknown" && (strings.Contains(got, "_") || !strings.Contains(name, "_"+got+"_"+framework+"_tp")) {
			t.Errorf("precisionOf(%q, %q): got %q", name, framework, got)
		}
	})
}

// A task that cannot name a file is refused before anything is asked.
func TestTaskNamesFiles(t *testing.T) {
	for _, task := range []string{"../x", "a/b", ".hidden", "a b", "-x", "a\x00", strings.Repeat("x", 101)} {
		if _, err := Run(t.Context(), Config{Task: task, Questions: []Question{{"q", "#### 1"}}}, nil); err == nil || !strings.Contains(err.Error(), "task ") {
			t.Errorf("task %q: got %v, want a refusal", task, err)
		}
	}
}
