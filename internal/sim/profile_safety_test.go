package sim

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

const seedProfile = `{"version":"1.0.0","load":"2s","time":{"step-base":"1.6ms","step-per-sequence":"20us","prefill-per-token":"1us","max-batch":64,"eager-factor":1.5},
"answers":{"seed":1,"accuracy":0.95,"lost":[],"gained":["0000000000000000000000000000000000000000000000000000000000000000"]},
"faults":{"never-ready":false,"die-after-requests":0,"slow-decode":1.25},
"models":{"lab/tiny":{"lost":[],"gained":[],"faults":{"never-ready":true,"die-after-requests":3,"slow-decode":0}}}}`

// A profile that is accepted is in range, and its own spelling gives it back.
func FuzzParseProfile(f *testing.F) {
	for _, s := range []string{seedProfile, `{}`, `null`, `{"load": "-1ms"}`, `{"time": {"max-batch": -1}}`, `{"load": 7}`, `{"version":"1","Version":"2"}`,
		`{"version":"1","time":{"step-base":"1ms","max-batch":1,"max-batch":0}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseProfile(data)
		if err != nil {
			return
		}
		if p.Load < 0 || p.Time.MaxBatch < 1 || p.Time.StepBase <= 0 || p.Time.StepBase > Duration(time.Minute) || !(p.Answers.Accuracy >= 0 && p.Answers.Accuracy <= 1) {
			t.Errorf("ParseProfile(%q): got %+v", data, p)
		}
		line := QuestionLine("Question: What is 2 plus 3?")
		p.For("x").Answers.Reply(line)
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseProfile(text)
		if err != nil {
			t.Fatalf("ParseProfile(%s): %v", text, err)
		}
		if back, err := json.Marshal(again); err != nil || !reflect.DeepEqual(back, text) {
			t.Errorf("ParseProfile(%s): spelled again it is %s, %v", text, back, err)
		}
	})
}
