package sim

import (
	"os"
	"testing"
)

func FuzzParseProfile(f *testing.F) {
	for _, name := range []string{"../lab/files/engine/v1/share/simengine/engine.json", "../lab/files/engine/v2/share/simengine/engine.json"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{`{}`, `null`, `{"load": "-1ms"}`, `{"time": {"max-batch": -1}}`, `{"load": 7}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseProfile(data)
		if err != nil {
			return
		}
		if p.Load < 0 || p.Time.MaxBatch < 0 || p.Time.StepBase < 0 {
			t.Errorf("ParseProfile(%q): got %+v", data, p)
		}
		line := QuestionLine("Question: What is 2 plus 3?")
		p.For("x").Answers.Reply(line)
	})
}
