package lab

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Of a whole story: the lines that tell something new, and how many of them
// come when the last run has been measured. The first are those of family A,
// the last those of family B.
const (
	storyLines = 120
	lastLines  = 5
)

// killSeed is random, unless the environment repeats one.
func killSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("REFIT_KILL_SEED")
	if text == "" {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("REFIT_KILL_SEED: %v", err)
	}
	return seed
}

// moments are three of a story, anywhere in it: at once after a line, which is
// where steps follow one another, or up to two seconds later, which is where
// points are measured. The last lines follow one another too fast for that.
func moments(seed uint64) []moment {
	r := rand.New(rand.NewPCG(seed, 0))
	lines := r.Perm(storyLines)[:3]
	slices.Sort(lines)
	var out []moment
	for _, n := range lines {
		m := moment{Line: n + 1}
		if n < storyLines-lastLines && r.IntN(2) == 0 {
			m.After = time.Duration(r.IntN(2000)) * time.Millisecond
		}
		out = append(out, m)
	}
	return out
}

func TestMoments(t *testing.T) {
	earliest, latest := storyLines, 0
	for seed := range uint64(2000) {
		ms := moments(seed)
		if diff := cmp.Diff(ms, moments(seed)); diff != "" {
			t.Fatalf("seed %d is not repeated:\n%s", seed, diff)
		}
		if len(ms) != 3 || ms[0].Line >= ms[1].Line || ms[1].Line >= ms[2].Line {
			t.Fatalf("seed %d: %v, want three in order", seed, ms)
		}
		earliest, latest = min(earliest, ms[0].Line), max(latest, ms[2].Line)
	}
	if earliest != 1 || latest != storyLines {
		t.Errorf("kills from line %d to line %d, want 1 to %d", earliest, latest, storyLines)
	}
}

// TestLabKilledThreeTimes tells the lab's whole story with the real binary and
// kills its process three times on the way. The fourth start must end it as
// planned, with one of everything.
func TestLabKilledThreeTimes(t *testing.T) {
	if testing.Short() || os.Getenv("REFIT_TEST_LAB") != "1" {
		t.Skip("the whole lab wants the machine for itself: make test runs it after the other tests")
	}
	seed := killSeed(t)
	t.Logf("to kill it at the same moments again: REFIT_KILL_SEED=%d", seed)
	s := newStage(t)
	lost := s.killedAt(moments(seed))
	end := s.start(nil, "lab")
	if end.Killed || end.Code != 0 {
		t.Fatalf("the fourth start ended with exit code %d:\n%s", end.Code, strings.Join(s.said, "\n"))
	}
	said := slices.Clone(s.said)
	t.Logf("the whole conversation:\n%s", strings.Join(said, "\n"))
	t.Run("readme", func(t *testing.T) {
		if err := readmeTranscript(t).check(said, end.Answer); err != nil {
			t.Errorf("README.md, ## Try it: %v", err)
		}
	})
	o := s.observer(t)
	w := o.world()
	o.oneOfEverything(w)
	s.again()
	if diff := cmp.Diff(w, o.world()); diff != "" {
		t.Errorf("a lab that was told before is changed (-before +after):\n%s", diff)
	}
	s.down(lost)
}

// killedAt starts the lab once for every moment and kills it there. Nobody is
// left to end what it had started: that must end by itself. lost are the runs
// that were certainly going on.
func (s *stage) killedAt(moments []moment) (lost []string) {
	s.t.Helper()
	for i, at := range moments {
		end := s.start(&at, "lab")
		if !end.Killed {
			s.t.Fatalf("start %d was to be killed %v after line %d, and ended at line %d with exit code %d:\n%s",
				i+1, at.After, at.Line, len(s.new), end.Code, strings.Join(s.said, "\n"))
		}
		died := time.Now()
		s.nothingRuns(time.Minute)
		s.t.Logf("kill %d, %v after line %d of %d: %s; nothing ran any more %.1f s later", i+1, at.After, at.Line, storyLines, end.Last, time.Since(died).Seconds())
		if run := inProgress(end.Last); run != "" {
			lost = append(lost, run)
		}
	}
	return lost
}

// again starts the lab that has told everything.
func (s *stage) again() {
	s.t.Helper()
	end := s.start(nil, "lab", "--json")
	var a struct{ Families []Ending }
	if err := json.Unmarshal([]byte(strings.Join(end.Answer, "\n")), &a); err != nil || end.Code != 0 {
		s.t.Fatalf("the start after the last: exit code %d, %v", end.Code, err)
	}
	for i, c := range simulated.story {
		if i >= len(a.Families) || a.Families[i].Family != c.Family || a.Families[i].Outcome != c.Want || !a.Families[i].Kept {
			s.t.Errorf("the start after the last says %+v; want %s kept as %s", a.Families, c.Family, c.Want)
		}
	}
}

// down ends what serves the lab, and looks for what is left of all starts.
func (s *stage) down(lost []string) {
	s.t.Helper()
	if end := s.start(nil, "lab", "down"); end.Code != 0 || len(end.Answer) != 1 || !strings.HasPrefix(end.Answer[0], "lab: stopped process:") {
		s.t.Errorf("lab down: exit code %d, %q", end.Code, end.Answer)
	}
	s.nothingRuns(10 * time.Second)
	s.restarts(lost)
	if left, err := os.ReadDir(s.temp()); err != nil || len(left) != 0 {
		s.t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}
