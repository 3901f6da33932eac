package result

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// attempts is what the attempts of a run left: a manifest of the newest, and
// for each file its lines.
func attempts(t *testing.T, newest int, files ...[]Line) (Run, error) {
	t.Helper()
	m := goodManifest()
	m.Attempt = newest
	p := m.Families[0].Points[0]
	p.Key = key2
	m.Families[0].Points = append(m.Families[0].Points, p)
	src, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var texts [][]byte
	for _, lines := range files {
		var b bytes.Buffer
		if err := WriteLines(&b, lines); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, b.Bytes())
	}
	return ReadAttempts(src, texts...)
}

// tried is a row of a point in an attempt; what it measured tells it from others.
func tried(t *testing.T, key string, attempt int, outcome string, tput float64) Line {
	t.Helper()
	r := goodRow(t)
	r.Key, r.Label, r.Result, r.Provenance.Attempt = key, "c"+key[:1], outcome, attempt
	r.Metrics = map[string]float64{"tput_per_gpu": tput}
	return Line{Kind: KindRow, Row: &r}
}

func TestThePointsOfAttemptsAreTakenOneByOne(t *testing.T) {
	for _, c := range []struct {
		name  string
		files [][]Line
		want  string // label, attempt, throughput, in order
	}{
		{"only-failed-points-ran-again", [][]Line{
			{tried(t, key1, 1, Failed, 0), tried(t, key2, 1, Passed, 20)}, {tried(t, key1, 2, Passed, 11)}}, "c1/2/11 c2/1/20"},
		{"the-later-success-counts", [][]Line{{tried(t, key1, 1, Passed, 10)}, {tried(t, key1, 2, Passed, 11)}}, "c1/2/11"},
		{"a-later-failure-does-not", [][]Line{{tried(t, key1, 1, Passed, 10)}, {tried(t, key1, 2, Failed, 0)}}, "c1/1/10"},
		{"of-two-failures-the-later", [][]Line{{tried(t, key1, 1, Failed, 0)}, {tried(t, key1, 2, Cancelled, 0)}}, "c1/2/0"},
		{"whatever-file-comes-first", [][]Line{{tried(t, key1, 2, Passed, 11)}, {tried(t, key1, 1, Passed, 10)}}, "c1/2/11"},
		{"collected-anew", [][]Line{
			{tried(t, key2, 1, Passed, 20)}, {tried(t, key2, 1, Passed, 20), tried(t, key1, 2, Passed, 11)}}, "c1/2/11 c2/1/20"},
		{"both-attempts-in-one-file", [][]Line{{tried(t, key1, 1, Failed, 0), tried(t, key1, 2, Passed, 11)}}, "c1/2/11"},
		{"third-attempt", [][]Line{{tried(t, key1, 1, Passed, 10)}, {tried(t, key1, 2, Passed, 11)}, {tried(t, key1, 3, Passed, 12)}}, "c1/3/12"},
	} {
		run, err := attempts(t, 3, c.files...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, r := range run.Rows {
			b, _ := json.Marshal(r.Metrics["tput_per_gpu"])
			got = append(got, r.Label+"/"+string('0'+rune(r.Provenance.Attempt))+"/"+string(b))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
	}
}

func TestTheEvalsOfAttemptsAreTakenOneByOne(t *testing.T) {
	of := func(attempt int, outcome string) Line {
		e := goodEval(t)
		e.Result, e.Provenance.Attempt = outcome, attempt
		return Line{Kind: KindEval, Eval: &e}
	}
	run, err := attempts(t, 2, []Line{of(1, Failed), tried(t, key1, 1, Passed, 10)}, []Line{of(2, Passed)})
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Evals) != 1 || run.Evals[0].Provenance.Attempt != 2 || run.Evals[0].Result != Passed {
		t.Errorf("evals: got %+v, want the one of attempt 2", run.Evals)
	}
	if got := run.Attempts(); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("attempts: got %v, want 1 and 2", got)
	}
}

func TestReadAttemptsRefuses(t *testing.T) {
	foreign := func(change func(*Provenance)) Line {
		l := tried(t, key1, 1, Failed, 0)
		change(&l.Row.Provenance)
		return l
	}
	for _, c := range []struct {
		name, want string
		files      [][]Line
	}{
		{"twice-in-a-file", "point c1: measured twice", [][]Line{{tried(t, key1, 1, Passed, 10), tried(t, key1, 1, Passed, 10)}}},
		{"twice-in-an-attempt", "point c1: measured twice in attempt 1, and not the same",
			[][]Line{{tried(t, key1, 1, Passed, 10)}, {tried(t, key1, 1, Passed, 12)}}},
		{"attempt-to-come", "made by run 7 attempt 3", [][]Line{{tried(t, key1, 3, Passed, 10)}}},
		{"superseded-row-of-another-run", "made by run 8 attempt 1",
			[][]Line{{foreign(func(p *Provenance) { p.RunID = 8 })}, {tried(t, key1, 2, Passed, 11)}}},
		{"superseded-row-of-another-head", "at dddddddddddd",
			[][]Line{{foreign(func(p *Provenance) { p.Head = strings.Repeat("d", 40) })}, {tried(t, key1, 2, Passed, 11)}}},
		{"not-expected", "the manifest does not expect it", [][]Line{{tried(t, strings.Repeat("3", 64), 1, Passed, 10)}}},
	} {
		if _, err := attempts(t, 2, c.files...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
