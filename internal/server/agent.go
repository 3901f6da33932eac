package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/workspace"
)

// Agent has an external program answer questions. Each turn gets a fresh folder
// with the question, the evidence, the schema of the answer and the files of
// the commit; what the program leaves there is read and checked, and nothing
// else that it says or does counts.
type Agent struct {
	Program run.Agent
	Turns   int           // how often it may be asked, all together
	Time    time.Duration // how long it may take, all turns together
	State   *workspace.Workspace
	Tree    func(ctx context.Context, commit string) (fs.FS, error)
	Now     func() time.Time

	turns int
	spent time.Duration
}

// ErrNoAgent says that the program that was named cannot be run.
var ErrNoAgent = errors.New("agent")

// NewAgent prepares a program, written as one line, to be asked. It gets what
// jobs.env of refit.yaml names, and never a forge's credential.
func NewAgent(p *Parts, command string, turns int, limit time.Duration) (*Agent, error) {
	words, err := run.Words(command)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %v", ErrNoAgent, command, err)
	}
	program, err := exec.LookPath(words[0])
	if err == nil {
		program, err = filepath.Abs(program) // it runs in a folder of its own
	}
	if err != nil {
		return nil, fmt.Errorf("%w %q: %v", ErrNoAgent, command, err)
	}
	words[0] = program
	c, err := p.Forge()
	if err != nil {
		return nil, err
	}
	return &Agent{
		Program: run.Agent{Argv: words, Env: os.Environ(), Pass: p.Workspace.Config.Jobs.Env},
		Turns:   turns, Time: limit, State: p.Workspace, Tree: p.trees(c), Now: p.now,
	}, nil
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 64 << 10

// Judge asks the program one question once.
func (a *Agent) Judge(ctx context.Context, q candidate.Question) (candidate.Answer, error) {
	left := a.Time - a.spent
	if a.turns >= a.Turns || left <= 0 {
		return candidate.Answer{}, fmt.Errorf("agent: %w (%d of %d turns, %s of %s)", candidate.ErrNoTurns, a.turns, a.Turns, a.spent.Round(time.Second), a.Time)
	}
	a.turns++
	dir, err := a.desk(q)
	if err != nil {
		return candidate.Answer{}, fmt.Errorf("agent: %w", err)
	}
	if err := a.furnish(ctx, dir, q, left); err != nil {
		return candidate.Answer{}, fmt.Errorf("agent: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(dir, "agent.log"), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return candidate.Answer{}, fmt.Errorf("agent: %w", err)
	}
	defer log.Close()
	began := a.Now()
	turn, timeOver := context.WithTimeoutCause(ctx, left, fmt.Errorf("the agent's time is over (%s)", a.Time))
	defer timeOver()
	ended := a.Program.Turn(turn, dir, filepath.Join(dir, "prompt.md"), log)
	a.spent += a.Now().Sub(began)
	for _, name := range []string{"tree", "home", "tmp"} {
		_ = os.RemoveAll(filepath.Join(dir, name)) // the program may have locked it: nobody needs it any more
	}
	if ctx.Err() != nil {
		return candidate.Answer{}, context.Cause(ctx)
	}
	return a.answer(dir, q, ended)
}

// answer reads what the program left. How it ended only matters when it left
// nothing.
func (a *Agent) answer(dir string, q candidate.Question, ended error) (candidate.Answer, error) {
	name := filepath.Join(dir, "answer.json")
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && ended != nil:
		return candidate.Answer{}, fmt.Errorf("%w: %w", candidate.ErrNoAnswer, ended)
	case errors.Is(err, fs.ErrNotExist):
		return candidate.Answer{}, fmt.Errorf("%w: it wrote no answer.json", candidate.ErrNoAnswer)
	case err != nil:
		return candidate.Answer{}, fmt.Errorf("agent: %w", err)
	case !info.Mode().IsRegular():
		return candidate.Answer{}, fmt.Errorf("%w: answer.json is not a regular file", candidate.ErrNoAnswer)
	}
	data, err := workspace.ReadFile(name, maxAnswer)
	if err != nil {
		return candidate.Answer{}, fmt.Errorf("%w: %w", candidate.ErrNoAnswer, err)
	}
	return q.ParseAnswer(data)
}

// desk makes the next folder below .refit/agent/ID.
func (a *Agent) desk(q candidate.Question) (string, error) {
	if err := a.State.EnsureState(); err != nil {
		return "", err
	}
	above := a.State.State("agent", q.Candidate.ID)
	if err := os.MkdirAll(above, 0o700); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		dir := filepath.Join(above, strconv.Itoa(n))
		err := os.Mkdir(dir, 0o700)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

// furnish writes everything that the program may look at.
func (a *Agent) furnish(ctx context.Context, dir string, q candidate.Question, left time.Duration) error {
	schema, err := q.AnswerSchema()
	if err != nil {
		return err
	}
	question, err := json.MarshalIndent(q, "", "  ")
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"question.json": question, "answer.schema.json": schema,
		"prompt.md": []byte(q.Prompt(a.Turns-a.turns, left)),
	}
	for _, name := range q.Evidence {
		v, ok := q.Files[name]
		if !ok {
			return fmt.Errorf("question %s names evidence %s and has none", q.Kind, name)
		}
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return fmt.Errorf("evidence %s: %w", name, err)
		}
		files[filepath.Join("evidence", name)] = data
	}
	if err := os.Mkdir(filepath.Join(dir, "evidence"), 0o700); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	tree, err := a.Tree(ctx, q.Commit)
	if err != nil {
		return fmt.Errorf("files of %.12s: %w", q.Commit, err)
	}
	return copyFiles(tree, filepath.Join(dir, "tree"))
}
