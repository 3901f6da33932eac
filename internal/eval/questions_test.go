package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "q.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadQuestions(t *testing.T) {
	text := `{"question": "Q\u2019", "answer": "A\n#### 1"}` + "\n\n" + `{"question": "R", "answer": "#### 1,000"}`
	path := write(t, text)
	got, err := LoadQuestions(path, digest([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	want := []Question{{"Q\u2019", "A\n#### 1"}, {"R", "#### 1,000"}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := LoadQuestions(path, strings.ToUpper(digest([]byte(text)))); err != nil {
		t.Errorf("digest in capitals: %v", err)
	}
}

func TestLoadQuestionsRejects(t *testing.T) {
	good := `{"question": "Q", "answer": "#### 1"}` + "\n"
	for _, c := range []struct{ name, text, sha, want string }{
		{"other-digest", good, strings.Repeat("0", 64), "its sha256 is " + digest([]byte(good)) + ", want 000"},
		{"no-json", good + "nonsense\n", "", "q.jsonl:2: "},
		{"no-question", `{"answer": "#### 1"}`, "", "q.jsonl:1: question: missing"},
		{"no-number", `{"question": "Q", "answer": "one"}`, "", `q.jsonl:1: answer: no "#### <number>"`},
		{"empty", "\n", "", "no questions"},
		{"endless-line", good + strings.Repeat("x", maxLine+1), "", "q.jsonl:2: "},
	} {
		_, err := LoadQuestions(write(t, c.text), c.sha)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	if _, err := LoadQuestions(filepath.Join(t.TempDir(), "absent"), ""); !os.IsNotExist(unwrap(err)) {
		t.Errorf("absent file: %v", err)
	}
}

func unwrap(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = inner.Unwrap()
	}
}

// shared is a file of the shared data folder, or skips the test.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	root := os.Getenv("REFIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared data not present: %v", err)
	}
	return path
}

func TestRealGSM8K(t *testing.T) {
	test, err := LoadQuestions(shared(t, "data", "gsm8k", "test.jsonl"), "")
	if err != nil {
		t.Fatal(err)
	}
	train, err := LoadQuestions(shared(t, "data", "gsm8k", "train.jsonl"), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(test) != 1319 || len(train) != 7473 {
		t.Errorf("%d test and %d train documents, want 1319 and 7473", len(test), len(train))
	}
	doc, err := spell(object{{"question", test[0].Question}, {"answer", test[0].Answer}}, "  ")
	if err != nil {
		t.Fatal(err)
	}
	if got := digest(doc); !strings.HasPrefix(got, "986c1925") || !strings.HasSuffix(got, "518c") {
		t.Errorf("hash of document 0: %s, want 986c1925...518c", got)
	}
	prompts, err := Config{Questions: test, Train: train, Shots: 5}.prompts()
	if err != nil {
		t.Fatal(err)
	}
	if got := prompts[0]; len(got) != 11 || got[1].Content != train[6374].Answer || got[9].Role != "assistant" {
		t.Errorf("prompt 0 has %d messages, first answer %q", len(got), got[1].Content)
	}
}
