// Package eval asks an endpoint questions with known answers and scores what
// comes back, by the rules of the GSM8K task that the reference harness runs.
// It knows nothing about recipes or points, and it has no opinion on what
// score is good enough.
package eval

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/refit-bench/refit/internal/bench"
)

// Metric is the name of the published score: the share of strict matches.
const Metric = "em_strict"

// Config says what is asked, and of whom.
type Config struct {
	Target      bench.Target // API is not looked at: questions go to chat completions
	Task        string       // name in file names and scores; empty = gsm8k
	Questions   []Question
	Train       []Question // few-shot pool; needed only when Shots > 0
	Shots       int
	Concurrency int             // questions in flight; less than one = one
	MaxTokens   int             // of an answer; see MaxTokens
	Timeout     time.Duration   // of one attempt; 0 = 30 minutes
	Waits       []time.Duration // before the second and later attempts; nil = 1 s, 1 s, 2 s, 4 s
	Now         func() time.Time
}

// Answer is what became of one question.
type Answer struct {
	DocID          int    `json:"doc_id"`          // place of the question in the file, from 0
	QuestionDigest string `json:"question_digest"` // SHA-256 hex of the question text
	Target         string `json:"target"`          // the known answer as it stands in the file
	Response       string `json:"response"`        // what the endpoint said
	Filtered       string `json:"filtered"`        // Strict of the response
	Correct        bool   `json:"correct"`         // by the strict rule
	Cut            bool   `json:"cut,omitempty"`   // the token limit ended the response, maybe inside a number
}

// Score is a finished eval. StdErr is 0 for a single sample, where it is not
// defined.
type Score struct {
	Task     string
	Metric   string // Metric
	Score    float64
	StdErr   float64
	Flexible float64 // share of flexible matches
	Samples  int
	Answers  []Answer // in the order of the questions
	Started  time.Time
	Ended    time.Time

	asked asked // for WriteFiles
}

// Run asks every question once and scores the answers. An attempt that fails
// is repeated up to len(Waits) times; a question whose attempts all fail ends
// the eval with an error and no score. progress may be nil; it is never called
// twice at once.
func Run(ctx context.Context, c Config, progress func(done, total int)) (Score, error) {
	c = c.withDefaults()
	if !taskForm.MatchString(c.Task) {
		return Score{}, fmt.Errorf("eval: task %q: want letters, digits, dots, dashes and underscores, as its files are named after it", c.Task)
	}
	prompts, err := c.prompts()
	if err != nil {
		return Score{}, fmt.Errorf("eval %s: %w", c.Task, err)
	}
	s := Score{Task: c.Task, Metric: Metric, Samples: len(c.Questions), Started: c.Now(), Answers: make([]Answer, len(c.Questions)),
		asked: asked{c, prompts}}
	client := newClient(c)
	defer client.http.CloseIdleConnections()
	var mu sync.Mutex
	done := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Concurrency)
	for i := range c.Questions {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			got, err := client.answer(ctx, prompts[i])
			if err != nil {
				return fmt.Errorf("question %d: %w", i, err)
			}
			s.Answers[i] = grade(i, c.Questions[i], got)
			mu.Lock()
			defer mu.Unlock()
			done++
			if progress != nil {
				progress(done, len(c.Questions))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Score{}, fmt.Errorf("eval %s: %w", c.Task, err)
	}
	if err := context.Cause(ctx); err != nil && done < len(c.Questions) {
		return Score{}, fmt.Errorf("eval %s: %w", c.Task, err)
	}
	s.Ended = c.Now()
	s.sum()
	return s, nil
}

var taskForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func (c Config) withDefaults() Config {
	if c.Task == "" {
		c.Task = "gsm8k"
	}
	c.Concurrency = max(c.Concurrency, 1)
	if c.MaxTokens <= 0 {
		c.MaxTokens = MaxTokens(0)
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Minute
	}
	if c.Waits == nil {
		c.Waits = []time.Duration{time.Second, time.Second, 2 * time.Second, 4 * time.Second}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Target.URL = strings.TrimSuffix(c.Target.URL, "/")
	return c
}

func grade(i int, q Question, got said) Answer {
	filtered := Strict(got.text)
	return Answer{DocID: i, QuestionDigest: Digest(q.Question), Target: q.Answer, Response: got.text, Filtered: filtered,
		Correct: Equal(filtered, q.Answer), Cut: got.cut}
}

// sum fills in the shares from the answers.
func (s *Score) sum() {
	strict, flexible := s.matches(Strict), s.matches(Flexible)
	n := len(s.Answers)
	s.Score, s.StdErr = share(strict, n), StdErr(strict, n)
	s.Flexible = share(flexible, n)
}

// Cut is how many responses the token limit ended. They are scored like the
// others, as in the reference; many of them say that the limit is too low.
func (s Score) Cut() (n int) {
	for _, a := range s.Answers {
		if a.Cut {
			n++
		}
	}
	return n
}

// matches counts the answers that are right by one filter.
func (s *Score) matches(filter func(string) string) (n int) {
	for _, a := range s.Answers {
		if Equal(filter(a.Response), a.Target) {
			n++
		}
	}
	return n
}

func share(k, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(k) / float64(n)
}

// StdErr is the standard error of the share of k correct among n, with the
// sample standard deviation (n - 1). It is 0 where that is not defined.
func StdErr(k, n int) float64 {
	if n < 2 {
		return 0
	}
	p := share(k, n)
	return math.Sqrt(p * (1 - p) / float64(n-1))
}

// MaxTokens is how long an answer may be when prompt and answer share a
// context of so many tokens; 0 is an unknown context.
func MaxTokens(context int) int {
	const room, most = 4096, 16384
	switch {
	case context <= 0:
		return most - room
	case context > room:
		return min(context-room, most)
	}
	return context / 2
}
