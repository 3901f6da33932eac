package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result"
)

// evidenceView is what was seen besides the numbers.
type evidenceView struct {
	Runs   []runView
	Jobs   []jobView
	Gates  []gate.Verdict
	Record *Evidence // of the newest full sweep
}

// Any says whether there is anything to show.
func (e evidenceView) Any() bool {
	return len(e.Runs)+len(e.Jobs)+len(e.Gates) > 0 || e.Record != nil
}

// runView is one measured run.
type runView struct {
	Side, Run, Head string
	Points          int
	Ended           time.Time
}

// jobView is one point of one run of the new image: where it ran, what it did
// and whether its client can be trusted.
type jobView struct {
	Run, Point, Runner, Result, Requests, Errors, Health, Tone, Why, Delay, CPU, CacheHits string
}

func evidenceViewOf(p BoardPage) evidenceView {
	v := evidenceView{Gates: p.Gates}
	if p.Attempt != nil {
		v.Record = p.Attempt.Evidence
	}
	for _, side := range []struct {
		name string
		runs [][]result.Row
	}{{"old", p.Old}, {"new", p.New}} {
		for _, run := range side.runs {
			if len(run) > 0 {
				v.Runs = append(v.Runs, runViewOf(side.name, run))
			}
		}
	}
	for _, run := range p.New {
		names := rowNames(run)
		for _, r := range run {
			v.Jobs = append(v.Jobs, jobViewOf(r, names[r.Key]))
		}
	}
	return v
}

func runViewOf(side string, run []result.Row) runView {
	first := run[0].Provenance
	v := runView{Side: side, Run: runName(first), Head: abbreviated(first.Head), Points: len(run)}
	for _, r := range run {
		if r.Provenance.Ended.After(v.Ended) {
			v.Ended = r.Provenance.Ended
		}
	}
	return v
}

func runName(p result.Provenance) string { return fmt.Sprintf("%d / %d", p.RunID, p.Attempt) }

func jobViewOf(r result.Row, name string) jobView {
	h := r.Health
	v := jobView{Run: runName(r.Provenance), Point: name, Runner: r.Provenance.Runner, Result: r.Result, Requests: count(r.Requests),
		Errors: known(r.RequestErrors), Health: h.Verdict, Why: strings.Join(h.Reasons, "; "), Delay: none, CPU: none, CacheHits: none}
	switch h.Verdict {
	case bench.Healthy:
		v.Tone = "good"
	case bench.Suspect:
		v.Tone = "warn"
	case bench.Unhealthy:
		v.Tone = "bad"
	default:
		v.Health, v.Tone = "unknown", "warn"
	}
	if h.Samples > 0 {
		v.Delay = h.ReadDelayP99.Round(time.Microsecond).String()
	}
	if h.ClientCPU > 0 {
		v.CPU = fmt.Sprintf("%.2f", h.ClientCPU)
	}
	if h.PrefixCacheHits != nil {
		v.CacheHits = number(h.PrefixCacheHits)
	}
	return v
}

func rowNames(run []result.Row) map[string]string {
	var named []Point
	for _, r := range run {
		named = append(named, Point{Key: r.Key, Label: r.Label, Conc: r.Conc})
	}
	return namesOf(named)
}

// sourceView is what the two images' sources say about the recipe.
type sourceView struct {
	Any       bool
	Old, New  engine.Side
	Findings  []findingView
	Same      []string
	Read      string
	NotRead   []string
	NoneFound bool
}

type findingView struct {
	Name, Old, New, Verdict, Tone, Confidence, Evidence string
}

func sourceViewOf(c *engine.Comparison) sourceView {
	if c == nil {
		return sourceView{}
	}
	v := sourceView{Any: true, Old: c.Old, New: c.New, NotRead: c.NotRead,
		Read: fmt.Sprintf("%s and %s of the recipe were read.", counted(c.FlagsRead, "flag"), counted(c.VariablesRead, "variable"))}
	for _, f := range c.Findings {
		if f.Verdict == engine.Same {
			v.Same = append(v.Same, f.Name)
			continue
		}
		v.Findings = append(v.Findings, findingView{f.Name, orDash(f.Old), orDash(f.New), f.Verdict, findingTone(f.Verdict), f.Confidence, because(f)})
	}
	v.NoneFound = len(v.Findings) == 0
	return v
}

func findingTone(verdict string) string {
	switch verdict {
	case engine.Rejected, engine.AmbiguousName, engine.ValueRejected:
		return "bad"
	case engine.Alias, engine.Warned:
		return "info"
	}
	return "warn"
}
