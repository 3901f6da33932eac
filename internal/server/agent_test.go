package server

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/workspace"
)

// testAgent is one of testdata/agent, with a workspace of its own.
func testAgent(t *testing.T, name string) *Agent {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "agent", name+".sh"))
	if err != nil {
		t.Fatal(err)
	}
	return &Agent{
		Program: run.Agent{Argv: []string{"/bin/sh", script}, Env: os.Environ(), Grace: time.Second},
		Turns:   2, Time: time.Minute, State: &workspace.Workspace{Root: t.TempDir()}, Now: time.Now,
		Tree: func(context.Context, string) (fs.FS, error) {
			return fstest.MapFS{"recipe.sh": {Data: []byte("serve --flag\n"), Mode: 0o755}, "configs/a.yaml": {Data: []byte("a: 1\n")}}, nil
		},
	}
}

func testQuestion() candidate.Question {
	return candidate.Question{
		Version: 1, ID: "0123456789abcdef", Kind: candidate.Review, Commit: strings.Repeat("a", 40), Ask: "Is it right?",
		Candidate: candidate.Candidate{ID: "4ccb0a08e646958b-af00168b432f68fb", Family: "configs/a-master.yaml:fam", Base: strings.Repeat("a", 40)},
		Decisions: []candidate.Option{{Word: "proceed", Means: "go on"}, {Word: "uncertain", Means: "stop"}},
		Choices:   []candidate.Choice{{ID: "e1", What: "rename", Proposed: true}},
		Evidence:  []string{"candidate.json"}, Files: map[string]any{"candidate.json": "the evidence"},
	}
}

func TestAnAgentAnswersWithAFile(t *testing.T) {
	a := testAgent(t, "good")
	got, err := a.Judge(t.Context(), testQuestion())
	if err != nil {
		t.Fatal(err)
	}
	if got.Decision != "proceed" || got.Reason != "It is right." || !slices.Equal(got.Choices, []string{"e1"}) {
		t.Errorf("got %+v", got)
	}
	desk := a.State.State("agent", "4ccb0a08e646958b-af00168b432f68fb", "1")
	left, err := os.ReadDir(desk)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	want := []string{"agent.log", "answer.json", "answer.schema.json", "evidence", "prompt.md", "question.json"}
	if !slices.Equal(names, want) {
		t.Errorf("kept: %v, want %v: the copy of the files is gone", names, want)
	}
	if log, err := os.ReadFile(filepath.Join(desk, "agent.log")); err != nil || string(log) != "reads the recipe: serve --flag\n" {
		t.Errorf("log %q, %v", log, err)
	}
	if info, err := os.Stat(desk); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v; want it private", info.Mode(), err)
	}
}

func TestWhatIsNoAnswerIsSaid(t *testing.T) {
	for name, want := range map[string]string{
		"nonsense": "no usable answer: answer.json: invalid character 'I'",
		"silent":   "no usable answer: agent /bin/sh: exit status 7",
		"link":     "no usable answer: answer.json is not a regular file",
		"huge":     "larger than 65536 bytes",
	} {
		_, err := testAgent(t, name).Judge(t.Context(), testQuestion())
		if !errors.Is(err, candidate.ErrNoAnswer) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func TestAnAgentFindsNoCredential(t *testing.T) {
	for _, name := range []string{"GITHUB_TOKEN", "GH_TOKEN", "REFIT_TOKEN", "FORGE_TOKEN"} {
		t.Setenv(name, "ghp_drawnDrawnDrawn4711")
	}
	a := testAgent(t, "thief")
	a.Program.Env = os.Environ()
	a.Program.Pass = []string{"GITHUB_TOKEN"} // not even when refit.yaml names it
	got, err := a.Judge(t.Context(), testQuestion())
	if err != nil || got.Reason != "found: nothing" {
		t.Errorf("got %+v, %v; want that it found nothing", got, err)
	}
	log, err := os.ReadFile(a.State.State("agent", testQuestion().Candidate.ID, "1", "agent.log"))
	if err != nil || strings.Contains(string(log), "4711") || !strings.Contains(string(log), "REFIT_ANSWER=") {
		t.Errorf("its environment is\n%s%v", log, err)
	}
}

func TestTurnsOfAnAgentAreBounded(t *testing.T) {
	a := testAgent(t, "silent")
	for n, want := range []error{candidate.ErrNoAnswer, candidate.ErrNoAnswer, candidate.ErrNoTurns} {
		if _, err := a.Judge(t.Context(), testQuestion()); !errors.Is(err, want) {
			t.Errorf("turn %d: got %v, want %v", n+1, err, want)
		}
	}
	if _, err := os.Stat(a.State.State("agent", testQuestion().Candidate.ID, "3")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a third folder: %v", err)
	}
}

func TestAnAgentIsKilledWhenItsTimeIsOver(t *testing.T) {
	a := testAgent(t, "hangs")
	a.Time = 200 * time.Millisecond
	if _, err := a.Judge(t.Context(), testQuestion()); !errors.Is(err, candidate.ErrNoAnswer) || !strings.Contains(err.Error(), "the agent's time is over (200ms)") {
		t.Errorf("got %v, want that its time is over", err)
	}
	if _, err := a.Judge(t.Context(), testQuestion()); !errors.Is(err, candidate.ErrNoTurns) {
		t.Errorf("after that: got %v, want no further turn", err)
	}
}

func TestWhoeverWaitsForAnAgentMayEnd(t *testing.T) {
	a := testAgent(t, "waits")
	ready := readyPipe(t, a)
	over := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		ready()
		cancel(over)
	}()
	if _, err := a.Judge(ctx, testQuestion()); !errors.Is(err, over) || errors.Is(err, candidate.ErrNoAnswer) {
		t.Errorf("got %v, want the interruption", err)
	}
}

// readyPipe lets the agent that waits say that it is there: ready returns its
// folder.
func readyPipe(t *testing.T, a *Agent) (ready func() string) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	a.Program.Env = append(os.Environ(), "READY="+pipe)
	a.Program.Pass = []string{"READY"}
	return func() string {
		dir, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(string(dir))
	}
}

func TestAQuestionIsAnsweredInTheAgentsPlace(t *testing.T) {
	a := testAgent(t, "waits")
	ready := readyPipe(t, a)
	q := testQuestion()
	type judged struct {
		answer candidate.Answer
		err    error
	}
	got := make(chan judged, 1)
	go func() {
		answer, err := a.Judge(t.Context(), q)
		got <- judged{answer, err}
	}()
	dir := ready()
	open, err := OpenQuestions(a.State)
	if err != nil || len(open) != 1 || open[0].ID != q.ID || open[0].Folder != dir || len(open[0].Choices) != 1 {
		t.Errorf("open: %+v, %v; want the one question", open, err)
	}
	for _, x := range []struct {
		question, decision, want string
	}{
		{q.ID, "validated", "decision"}, {strings.Repeat("f", 16), "proceed", `no question "ffffffffffffffff" is open`},
		{q.ID, "uncertain", ""}, {q.ID, "proceed", "is open"},
	} {
		err := GiveAnswer(a.State, candidate.NewAnswer(x.question, x.decision, "seen from beside", nil))
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s to %s: got %v, want %q", x.decision, x.question, err, x.want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("\n"), 0o600); err != nil {
		t.Error(err)
	}
	if j := <-got; j.err != nil || j.answer.Decision != "uncertain" || j.answer.Reason != "seen from beside" {
		t.Errorf("got %+v", j)
	}
	if open, err := OpenQuestions(a.State); err != nil || len(open) != 0 {
		t.Errorf("afterwards: %+v, %v; want none open", open, err)
	}
}

func TestAQuestionNamesTheEvidenceThatIsThere(t *testing.T) {
	q := testQuestion()
	q.Evidence = append(q.Evidence, "more.json")
	if _, err := testAgent(t, "good").Judge(t.Context(), q); err == nil || !strings.Contains(err.Error(), "names evidence more.json and has none") {
		t.Errorf("got %v", err)
	}
}

func TestOpenQuestionsAreReadStrictly(t *testing.T) {
	w := &workspace.Workspace{Root: t.TempDir()}
	if open, err := OpenQuestions(w); err != nil || len(open) != 0 {
		t.Errorf("nothing asked: %+v, %v", open, err)
	}
	dir := w.State("agent", "c", "1")
	if err := os.MkdirAll(filepath.Join(dir, "tree"), 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"version": 1, "question": "0123456789abcdef", "sudo": true})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "question.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenQuestions(w); err == nil || !strings.Contains(err.Error(), `question.json: json: unknown field "sudo"`) {
		t.Errorf("got %v, want the unknown field", err)
	}
}
