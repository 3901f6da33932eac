package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/workspace"
)

// OpenQuestion is a question that an agent is being asked right now.
type OpenQuestion struct {
	candidate.Question
	Folder string `json:"folder"` // where its evidence lies
}

// maxQuestion bounds a question, in bytes.
const maxQuestion = 1 << 20

// OpenQuestions are the questions below .refit/agent that are being asked and
// have no answer, in the order of their folders.
func OpenQuestions(w *workspace.Workspace) ([]OpenQuestion, error) {
	found, err := filepath.Glob(filepath.Join(globSafe(w.State("agent")), "*", "*", "question.json"))
	if err != nil {
		return nil, err
	}
	open := []OpenQuestion{}
	for _, name := range found {
		dir := filepath.Dir(name)
		if _, err := os.Stat(filepath.Join(dir, "tree")); err != nil { // it goes with the turn
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, "answer.json")); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data, err := workspace.ReadFile(name, maxQuestion)
		if err != nil {
			return nil, err
		}
		q := OpenQuestion{Folder: dir}
		if err := workspace.DecodeStrict(data, &q.Question); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		open = append(open, q)
	}
	return open, nil
}

// globSafe quotes what means something in a pattern.
func globSafe(path string) string {
	var out []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}

// GiveAnswer answers an open question in the place of the agent that is asked:
// the answer is checked as it will be checked again when the agent ends.
func GiveAnswer(w *workspace.Workspace, a candidate.Answer) error {
	open, err := OpenQuestions(w)
	if err != nil {
		return err
	}
	for _, q := range open {
		if q.ID != a.Question {
			continue
		}
		data, err := json.MarshalIndent(a, "", "  ")
		if err != nil {
			return err
		}
		if _, err := q.ParseAnswer(data); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(q.Folder, "answer.json"), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(append(data, '\n'))
		return errors.Join(err, f.Close())
	}
	return fmt.Errorf("no question %q is open", a.Question)
}
