package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	dir := t.TempDir()
	r := Repo{Dir: dir}
	git := func(args ...string) {
		t.Helper()
		all := append([]string{"-c", "user.name=o", "-c", "user.email=o@example.invalid"}, args...)
		if out, err := r.Git(t.Context(), all...); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	commit := func(day, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GIT_COMMITTER_DATE", day+"T12:00:00Z")
		git("add", "-A")
		git("commit", "-q", "-m", day)
	}
	git("init", "-q", "-b", "main", ".")
	commit("2026-01-05", "one\ntwo\nthree\n")
	commit("2026-03-07", "zero\none\nTWO\nthree\n")
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("zero\none\nTWO\nTHREE\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	day := func(m time.Month, d int) time.Time { return time.Date(2026, m, d, 12, 0, 0, 0, time.UTC) }

	got, err := r.Lines(t.Context(), "a.yaml", []int{2, 4, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || !got[2].Time.Equal(day(1, 5)) || !got[3].Time.Equal(day(3, 7)) || got[2].Oldest || len(got[2].Commit) != 40 {
		t.Errorf("got %+v", got)
	}
	if got[4] != (LineCommit{}) {
		t.Errorf("a line that is not committed: got %+v", got[4])
	}

	// A clone of the last commit alone cannot know more than that.
	shallow := filepath.Join(t.TempDir(), "clone")
	git("clone", "-q", "--depth", "1", "file://"+dir, shallow)
	got, err = Repo{Dir: shallow}.Lines(t.Context(), "a.yaml", []int{2})
	if err != nil {
		t.Fatal(err)
	}
	if !got[2].Oldest || !got[2].Time.Equal(day(3, 7)) {
		t.Errorf("in a shallow clone: got %+v", got[2])
	}
	if _, err := r.Lines(t.Context(), "b.yaml", []int{1}); err == nil {
		t.Error("lines of a file that does not exist")
	}
	if got, err := r.Lines(t.Context(), "b.yaml", nil); err != nil || len(got) != 0 {
		t.Errorf("no lines: got %v, %v", got, err)
	}
}

func TestParseBlameRefusesWhatItCannotRead(t *testing.T) {
	for _, out := range []string{"x\n", "a b c\n", "a 1 2\ncommitter-time soon\n"} {
		if _, err := parseBlame(out, false); err == nil {
			t.Errorf("%q was read", out)
		}
	}
}
