package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// RunFacts is what the forge says about one workflow run.
type RunFacts struct {
	ID         int64
	Attempt    int
	Status     string // queued | in_progress | completed
	Conclusion string // of a completed run
	Head       string // 40 hex
	Created    time.Time
	Started    time.Time // of this attempt
	Updated    time.Time // when the forge last changed it: of a completed run, its end
	Artifacts  []ArtifactFacts
}

// ArtifactFacts is what the forge says about one artifact of a run.
type ArtifactFacts struct {
	Name    string
	Size    int64
	Expired bool
	Created time.Time
}

// RunWant is what a run must be. Zero fields are not asked for.
type RunWant struct {
	ID        int64
	Attempt   int
	Heads     []string // any of these
	Artifacts []string // exact names that must be there
	// Current names the artifacts that must be of the current attempt, as the
	// manifest must.
	Current []string
	// Collected names the artifacts that are put together out of others.
	Collected []Collection
	Now       time.Time
}

// Collection is an artifact that is put together out of those whose names begin
// with one of From, except the ones that begin with one of Not.
type Collection struct {
	Name string
	From []string
	Not  []string
}

// Of says whether an artifact is one of the parts.
func (c Collection) Of(name string) bool {
	begins := func(start string) bool { return strings.HasPrefix(name, start) }
	return name != c.Name && slices.ContainsFunc(c.From, begins) && !slices.ContainsFunc(c.Not, begins)
}

// laterThanTheEnd is how much later than a run's end its artifacts may seem to
// be made: a forge's storage has a clock of its own.
const laterThanTheEnd = time.Minute

// Run judges the facts of a workflow run: the right run at the right head,
// completed with success, with the newest of each wanted artifact there, not
// expired, not empty and made within the run's life, and no collection older than
// what it is collected from. A run that is not
// finished is unknown, never a fail.
func Run(got RunFacts, want RunWant) Verdict {
	const gate = "run"
	switch {
	case want.ID != 0 && got.ID != want.ID:
		return Verdict{gate, Fail, fmt.Sprintf("run %d is not run %d", got.ID, want.ID)}
	case want.Attempt != 0 && got.Attempt != want.Attempt:
		return Verdict{gate, Fail, fmt.Sprintf("run %d is at attempt %d, not %d", got.ID, got.Attempt, want.Attempt)}
	case len(want.Heads) > 0 && !slices.Contains(want.Heads, got.Head):
		return Verdict{gate, Fail, fmt.Sprintf("run %d is of head %.12s, not %.12s", got.ID, got.Head, want.Heads[0])}
	case got.Status != "completed":
		return Verdict{gate, Unknown, fmt.Sprintf("run %d is %s", got.ID, got.Status)}
	case got.Conclusion != "success":
		return Verdict{gate, Fail, fmt.Sprintf("run %d ended as %s", got.ID, got.Conclusion)}
	}
	var bad []string
	for _, name := range want.Artifacts {
		if reason := lacking(got, want, name); reason != "" {
			bad = append(bad, reason)
		}
	}
	for _, c := range want.Collected {
		if reason := stale(got, c); reason != "" {
			bad = append(bad, reason)
		}
	}
	if len(bad) > 0 {
		return Verdict{gate, Fail, fmt.Sprintf("run %d: %s", got.ID, join(bad))}
	}
	return Verdict{gate, Pass, fmt.Sprintf("run %d attempt %d succeeded at %.12s with %d artifacts", got.ID, got.Attempt, got.Head, len(want.Artifacts))}
}

// lacking says what is wrong with the newest artifact of a name; "" when nothing is.
func lacking(got RunFacts, want RunWant, name string) string {
	a, ok := newest(got.Artifacts, name)
	switch {
	case !ok:
		return "artifact " + name + " is missing"
	case a.Expired:
		return "artifact " + name + " has expired"
	case a.Size == 0:
		return "artifact " + name + " is empty"
	case !got.Created.IsZero() && a.Created.Before(got.Created):
		return "artifact " + name + " is older than the run"
	case !got.Updated.IsZero() && a.Created.After(got.Updated.Add(laterThanTheEnd)):
		return "artifact " + name + " was made after the run had ended"
	case !want.Now.IsZero() && a.Created.After(want.Now):
		return "artifact " + name + " is from the future"
	case slices.Contains(want.Current, name) && !got.Started.IsZero() && a.Created.Before(got.Started):
		return fmt.Sprintf("artifact %s is older than attempt %d", name, got.Attempt)
	}
	return ""
}

// stale says that a collection was made before this attempt although a part of
// it was made again; "" when it was not.
func stale(got RunFacts, c Collection) string {
	a, ok := newest(got.Artifacts, c.Name)
	if !ok || got.Started.IsZero() || !a.Created.Before(got.Started) {
		return ""
	}
	for _, part := range got.Artifacts {
		if c.Of(part.Name) && !part.Created.Before(got.Started) {
			return fmt.Sprintf("artifact %s is older than attempt %d, which made %s again", c.Name, got.Attempt, part.Name)
		}
	}
	return ""
}

func newest(as []ArtifactFacts, name string) (ArtifactFacts, bool) {
	var best ArtifactFacts
	found := false
	for _, a := range as {
		if a.Name == name && (!found || !a.Created.Before(best.Created)) {
			best, found = a, true
		}
	}
	return best, found
}
