package candidate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
)

// Doctored is what doctor leaves behind.
type Doctored struct {
	Login  string         `json:"login"`
	Checks []gate.Verdict `json:"checks"`

	about forge.About
	sweep *[]byte // the sweep workflow on the default branch, once checkWorkflows has read it
}

func (d Doctored) String() string {
	passed := 0
	for _, v := range d.Checks {
		if v.Answer == gate.Pass {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d checks passed as %s", passed, len(d.Checks), d.Login)
}

// everySession binds doctor's receipt to this process: every session looks for itself.
func everySession(_ context.Context, w *work) (string, error) { return w.Holder.String(), nil }

func always(context.Context, *work) error { return nil }

// doctor refuses to start what could not be finished: the wrong login, a
// missing right, label or workflow, a clock that is off.
func (w *work) doctor(ctx context.Context) (any, error) {
	d, err := w.Shepherd.Doctor(ctx)
	if err != nil {
		return nil, err
	}
	w.login, w.main = d.Login, d.about.Branch
	if err := doctorBlocker(d.Checks); err != nil {
		return nil, err
	}
	return d, nil
}

// Doctor runs every check and reports all of them, failed ones included; what
// cannot be told from here is unknown, and stops nobody. It only looks. The
// error says that the forge could not be asked at all.
func (s *Shepherd) Doctor(ctx context.Context) (Doctored, error) {
	login, err := s.Forge.Login(ctx)
	if forge.Denied(err) {
		return Doctored{Checks: []gate.Verdict{fail("login", "the forge does not say whose the credential is, as it does for a workflow run's GITHUB_TOKEN: "+realToken)}}, nil
	}
	if err != nil {
		return Doctored{}, fmt.Errorf("who am I: %w", err)
	}
	d := Doctored{Login: login, sweep: new([]byte)}
	hidden, err := s.checkRepository(ctx, &d)
	if err != nil {
		return d, err
	}
	if hidden.Answer == gate.Fail {
		d.Checks = append(d.Checks, hidden) // nothing else about it can be asked
		return d, nil
	}
	for _, check := range []func(context.Context, Doctored) (gate.Verdict, error){
		s.checkLogin, s.checkPermission, s.checkDispatch, s.checkRules, s.checkClock, s.checkLabel, s.checkWorkflows, s.checkDrafts, s.checkResults,
	} {
		v, err := check(ctx, d)
		if err != nil {
			return d, err
		}
		if v.Gate != "" {
			d.Checks = append(d.Checks, v)
		}
	}
	if s.Local != nil {
		d.Checks = append(d.Checks, s.Local(ctx)...)
	}
	return d, nil
}

// realToken is what to do about a credential that starts no workflow runs.
const realToken = "put the token of a machine user or of an app of yours into forge.token-file"

func (s *Shepherd) checkLogin(_ context.Context, d Doctored) (gate.Verdict, error) {
	login, want := d.Login, s.Config.Forge.Login
	switch {
	case login == forge.ActionsLogin:
		return fail("login", "the credential is the GITHUB_TOKEN of a workflow run (%s): labels, pushes and pull requests made with it start no workflow run, so no sweep would ever begin; "+realToken, login), nil
	case want == "":
		return pass("login", "write credential belongs to %s; refit.yaml names no login", login), nil
	case !strings.EqualFold(login, want):
		return fail("login", "write credential belongs to %s, refit.yaml wants %s: every later step would be refused as not owned; use a token of %s or change forge.login", login, want, want), nil
	}
	return pass("login", "write credential belongs to %s", login), nil
}

// checkRepository looks if the credential can see the repository at all. A
// forge answers the same for one that does not exist.
func (s *Shepherd) checkRepository(ctx context.Context, d *Doctored) (hidden gate.Verdict, err error) {
	d.about, err = s.Forge.About(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return fail("repository", "%s does not exist, or the token of %s may not see it: correct forge.repository, or give %s write access", s.Forge.Repository, d.Login, d.Login), nil
	}
	return hidden, err
}

func (s *Shepherd) checkPermission(ctx context.Context, d Doctored) (gate.Verdict, error) {
	login := d.Login
	level, err := s.Forge.Permission(ctx, login)
	if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(login, forge.AppSuffix) { // GitHub tells levels of users only
		return gate.Verdict{Gate: "permission", Answer: gate.Unknown, Reason: fmt.Sprintf("%s is an app, and the forge does not tell what an app may do: it needs to read and write contents, pull requests, issues and actions", login)}, nil
	}
	if forge.Denied(err) { // GitHub tells levels only to those who may push
		return fail("permission", "the forge does not say what %s may do: pushing, labelling and dispatching need write; give %s that right, or use another token", login, login), nil
	}
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("permission of %s: %w", login, err)
	}
	if !slices.Contains([]string{"admin", "maintain", "write"}, level) {
		return fail("permission", "%s has permission %q: pushing, labelling and dispatching need write; give %s that right, or use another token", login, level, login), nil
	}
	return pass("permission", "%s may push, label and dispatch (%s)", login, level), nil
}

// clockSkew is how far this clock may be from the forge's: provenance compares
// their timestamps.
const clockSkew = 30 * time.Second

func (s *Shepherd) checkClock(ctx context.Context, _ Doctored) (gate.Verdict, error) {
	there, err := s.Forge.ServerTime(ctx)
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("clock of the forge: %w", err)
	}
	skew, side := s.Now().Sub(there), "ahead of"
	if skew < 0 {
		skew, side = -skew, "behind"
	}
	if skew > clockSkew {
		return fail("clock", "this clock is %s %s the forge's, at most %s are allowed: set it, records are compared by time", skew.Round(time.Second), side, clockSkew), nil
	}
	return pass("clock", "within %s of the forge", clockSkew), nil
}

func (s *Shepherd) checkLabel(ctx context.Context, _ Doctored) (gate.Verdict, error) {
	labels, err := s.Forge.Labels(ctx)
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("labels: %w", err)
	}
	want := s.Config.Policy.SweepLabel
	if !slices.Contains(labels, want) {
		return fail("label", "label %s does not exist: create it, or change policy.sweep-label", want), nil
	}
	return pass("label", "%s exists", want), nil
}

func pass(name, format string, args ...any) gate.Verdict {
	return gate.Verdict{Gate: name, Answer: gate.Pass, Reason: fmt.Sprintf(format, args...)}
}

func fail(name, format string, args ...any) gate.Verdict {
	return gate.Verdict{Gate: name, Answer: gate.Fail, Reason: fmt.Sprintf(format, args...)}
}

func unknown(name, format string, args ...any) gate.Verdict {
	return gate.Verdict{Gate: name, Answer: gate.Unknown, Reason: fmt.Sprintf(format, args...)}
}
