package candidate

import (
	"errors"
	"fmt"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/workspace"
)

// Question is a judgement that is asked for because evidence alone does not
// decide. Nothing that the answer says is believed: a decision only narrows
// what this program does next, and every edit is one that it offered itself.
type Question struct {
	Version   int       `json:"version"`
	ID        string    `json:"question"` // 16 hex; the answer repeats it
	Kind      Judgement `json:"kind"`
	Candidate Candidate `json:"candidate"`
	Commit    string    `json:"commit"` // whose files the asked may read
	Ask       string    `json:"ask"`
	Decisions []Option  `json:"decisions"`
	Choices   []Choice  `json:"choices"`
	Evidence  []string  `json:"evidence"` // file names, in the order to read them
	Wrong     string    `json:"wrong,omitempty"`

	Files map[string]any `json:"-"` // the evidence itself, by file name
}

// Judgement is a kind of question.
type Judgement string

// The judgements, in the order in which a candidate meets them.
const (
	Review  Judgement = "review"   // nothing is written yet: are the edits right, is it worth a run?
	NoSweep Judgement = "no-sweep" // the label is on and no sweep begins: wait on, or stop?
	Again   Judgement = "again"    // the smoke run failed: is a further attempt worth a run?
)

// Option is one word that an answer may decide, and what it means.
type Option struct {
	Word  string `json:"decision"`
	Means string `json:"means"`
}

// Choice is something that an answer may choose by its id: an edit (e1, e2,
// ...) or a reason (r1, r2, ...).
type Choice struct {
	ID       string `json:"id"`
	What     string `json:"what"`
	Proposed bool   `json:"proposed"` // taken unless the answer names choices of its own

	edits []engine.FileEdit
}

// Answer is what somebody who judges says. Choices nil leaves what is
// proposed; an empty list takes nothing.
type Answer struct {
	Version  int      `json:"version"`
	Question string   `json:"question"`
	Decision string   `json:"decision"`
	Reason   string   `json:"reason"`
	Choices  []string `json:"choices,omitempty"`
}

// NewAnswer is an answer of the present version.
func NewAnswer(question, decision, reason string, choices []string) Answer {
	return Answer{Version: questionVersion, Question: question, Decision: decision, Reason: reason, Choices: choices}
}

// ErrNoAnswer says that somebody who was asked gave no answer that can be
// used. What it wraps says why, for the next turn.
var ErrNoAnswer = errors.New("no usable answer")

// ErrNoTurns says that nobody may be asked any more: turns or time are used up.
var ErrNoTurns = errors.New("turns and time are used up")

// questionVersion is that of questions and answers.
const questionVersion = 1

// asked completes a question with its identity.
func (q Question) asked() Question {
	q.Version = questionVersion
	if q.Choices == nil {
		q.Choices = []Choice{}
	}
	q.ID = workspace.Identity([]any{q.Kind, q.Candidate, q.Decisions, q.Choices})[:16]
	return q
}

// choice finds a choice by its id.
func (q Question) choice(id string) (Choice, bool) {
	for _, c := range q.Choices {
		if c.ID == id {
			return c, true
		}
	}
	return Choice{}, false
}

// taken are the choices that an answer takes.
func (q Question) taken(a Answer) []Choice {
	var out []Choice
	for _, c := range q.Choices {
		if a.Choices == nil && c.Proposed {
			out = append(out, c)
		}
	}
	for _, id := range a.Choices {
		if c, ok := q.choice(id); ok {
			out = append(out, c)
		}
	}
	return out
}

// said is an answer's reason as a receipt may hold it.
func (a Answer) said() string {
	return fmt.Sprintf("judged %s: %s", a.Decision, line(workspace.Printable(a.Reason)))
}
