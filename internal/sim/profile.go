package sim

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// Profile describes one version of the simulated engine: how long its steps
// take, which questions it answers correctly, and what is wrong with it.
type Profile struct {
	Version string    `json:"version"`
	Load    Duration  `json:"load"` // from bound port to ready
	Time    TimeModel `json:"time"`
	Answers Answers   `json:"answers"`
	Faults  Faults    `json:"faults"`
	// Models is what differs for a model, by --model-path: an engine may be
	// worse for one model and the same for all others.
	Models map[string]ModelProfile `json:"models,omitempty"`
}

// ModelProfile is what a version does differently for one model. Lost and
// Gained are added to those of the profile.
type ModelProfile struct {
	Lost   []string `json:"lost"`
	Gained []string `json:"gained"`
	Faults Faults   `json:"faults"`
}

// For is the profile as one model sees it.
func (p Profile) For(model string) Profile {
	m, ok := p.Models[model]
	if !ok {
		return p
	}
	p.Answers.Lost = slices.Concat(p.Answers.Lost, m.Lost)
	p.Answers.Gained = slices.Concat(p.Answers.Gained, m.Gained)
	p.Faults = m.Faults
	return p
}

// TimeModel is the cost of one step of the whole batch:
// StepBase + StepPerSequence x running + PrefillPerToken x new prompt tokens.
type TimeModel struct {
	StepBase        Duration `json:"step-base"`
	StepPerSequence Duration `json:"step-per-sequence"`
	PrefillPerToken Duration `json:"prefill-per-token"`
	MaxBatch        int      `json:"max-batch"`
	EagerFactor     float64  `json:"eager-factor"` // of StepBase when the batch exceeds the decode graph; 0 means 1
}

// Answers decides which questions are answered correctly: the share Accuracy
// of all, chosen by a hash of Seed and the question line. Lost and Gained are
// SHA-256 hex digests of question lines that are answered wrongly or correctly
// whatever the hash says.
type Answers struct {
	Seed     int64    `json:"seed"`
	Accuracy float64  `json:"accuracy"`
	Lost     []string `json:"lost"`
	Gained   []string `json:"gained"`
}

// Faults are what a test or a story can break.
type Faults struct {
	NeverReady       bool    `json:"never-ready"`
	DieAfterRequests int     `json:"die-after-requests"` // the next request after so many ends the process; 0 = never
	SlowDecode       float64 `json:"slow-decode"`        // factor on the decode part of a step; 0 means 1
}

// Duration is a time.Duration spelled "1.6ms" in JSON.
type Duration time.Duration

// UnmarshalJSON reads the spelling of time.ParseDuration.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("duration %s: not a text such as \"1.6ms\"", data)
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("duration %q: want a number with a unit, such as \"1.6ms\"", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON writes the spelling of time.Duration.String.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// ParseProfile reads an engine.json strictly: unknown keys, missing figures and
// figures out of range are errors.
func ParseProfile(data []byte) (Profile, error) {
	var p Profile
	if err := workspace.DecodeStrict(data, &p); err != nil {
		return Profile{}, fmt.Errorf("engine profile: %w", err)
	}
	if err := p.check(); err != nil {
		return Profile{}, fmt.Errorf("engine profile: %w", err)
	}
	return p, nil
}

func (p Profile) check() error {
	const longest = Duration(time.Minute)
	switch t := p.Time; {
	case p.Version == "":
		return fmt.Errorf("version: missing")
	case p.Load < 0 || p.Load > Duration(time.Hour):
		return fmt.Errorf("load: %v is not between 0 and 1h", time.Duration(p.Load))
	case t.StepBase <= 0 || t.StepBase > longest:
		return fmt.Errorf("time.step-base: %v is not between 1ns and 1m", time.Duration(t.StepBase))
	case t.StepPerSequence < 0 || t.StepPerSequence > longest:
		return fmt.Errorf("time.step-per-sequence: %v is not between 0 and 1m", time.Duration(t.StepPerSequence))
	case t.PrefillPerToken < 0 || t.PrefillPerToken > longest:
		return fmt.Errorf("time.prefill-per-token: %v is not between 0 and 1m", time.Duration(t.PrefillPerToken))
	case t.MaxBatch < 1 || t.MaxBatch > 65536:
		return fmt.Errorf("time.max-batch: %d is not between 1 and 65536", t.MaxBatch)
	case t.EagerFactor < 0 || t.EagerFactor > 1000:
		return fmt.Errorf("time.eager-factor: %v is not between 0 and 1000", t.EagerFactor)
	case p.Answers.Accuracy < 0 || p.Answers.Accuracy > 1:
		return fmt.Errorf("answers.accuracy: %v is not between 0 and 1", p.Answers.Accuracy)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Models)) {
		m, key := p.Models[name], "models."+name+"."
		if err := errors.Join(m.Faults.check(key), checkDigests(key+"lost", m.Lost), checkDigests(key+"gained", m.Gained)); err != nil {
			return err
		}
	}
	return errors.Join(p.Faults.check(""), checkDigests("answers.lost", p.Answers.Lost), checkDigests("answers.gained", p.Answers.Gained))
}

func (f Faults) check(key string) error {
	switch {
	case f.DieAfterRequests < 0:
		return fmt.Errorf("%sfaults.die-after-requests: %d is negative", key, f.DieAfterRequests)
	case f.SlowDecode < 0 || f.SlowDecode > 1000:
		return fmt.Errorf("%sfaults.slow-decode: %v is not between 0 and 1000", key, f.SlowDecode)
	}
	return nil
}

func checkDigests(key string, digests []string) error {
	for i, d := range digests {
		if b, err := hex.DecodeString(d); err != nil || len(b) != 32 {
			return fmt.Errorf("%s[%d]: %q is not a SHA-256 in hex", key, i, d)
		}
	}
	return nil
}
