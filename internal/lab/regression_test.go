package lab

import (
	"encoding/json"
	"testing"

	"github.com/refit-bench/refit/internal/sim"
)

// Version 2's profile is version 1's, but for the model that it serves worse.
func TestVersionTwoIsWorseForOneModelOnly(t *testing.T) {
	const name = "sim/engine/v2/share/simengine/engine.json"
	one, err := sim.ParseProfile(content(t, "sim/engine/v1/share/simengine/engine.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := one
	want.Version = "2.0.0"
	worse, err := Regression(content(t, questionsName), one.Answers, 12, 2)
	if err != nil {
		t.Fatal(err)
	}
	want.Models = map[string]sim.ModelProfile{regressed: worse}
	data, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	generated(t, name, append(data, '\n'))

	two := want.For(regressed)
	lost, gained := 0, 0
	for _, q := range asked(t) {
		before, after := one.Answers.Correct(q.Question), two.Answers.Correct(q.Question)
		if before && !after {
			lost++
		}
		if !before && after {
			gained++
		}
	}
	if lost != 12 || gained != 2 {
		t.Errorf("version 2 loses %d and gains %d questions of %s, want 12 and 2", lost, gained, regressed)
	}
	for _, q := range asked(t) {
		if one.Answers.Correct(q.Question) != want.For("lab/tiny-a").Answers.Correct(q.Question) {
			t.Errorf("family A: %q is answered differently", q.Question)
		}
	}
}
