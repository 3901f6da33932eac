package eval

import "testing"

func FuzzParseQuestions(f *testing.F) {
	for _, s := range []string{`{"question": "What is 2 plus 3?", "answer": "#### 5"}`, `{"question": "", "answer": "#### 5"}`, `{"question": "a", "answer": "5"}`,
		"\n\n{\"question\": \"a\", \"answer\": \"x\\n#### -1,000\"}\n", "null", "[]", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		questions, err := parseQuestions("q.jsonl", data)
		if err == nil && len(questions) == 0 {
			t.Errorf("parseQuestions(%q): got none and no error", data)
		}
		for _, q := range questions {
			target := Strict(q.Answer)
			if q.Question == "" || target == Invalid || !Equal(target, target) {
				t.Errorf("parseQuestions(%q): got %+v", data, q)
			}
			Flexible(q.Question)
		}
	})
}
