package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// compared is what the tests read of a comparison.
type compared struct {
	Status  string
	Ahead   int                  `json:"ahead_by"`
	Behind  int                  `json:"behind_by"`
	Total   int                  `json:"total_commits"`
	Base    struct{ SHA string } `json:"merge_base_commit"`
	Commits []struct{ SHA string }
	Files   []struct{ Filename, Status string }
}

func (w *world) compared(t *testing.T, basehead string) compared {
	t.Helper()
	var got compared
	must(t, json.Unmarshal([]byte(w.put(t, "GET", "/compare/"+basehead, "", 200)), &got))
	return got
}

// parted is a branch of two commits that main has left behind by one.
func (w *world) parted(t *testing.T, branch string) (first, second, main string) {
	t.Helper()
	ctx := t.Context()
	first = w.newBranch(t, branch, map[string]string{"a.txt": "1\n"})
	second = w.commitOn(t, first, "more", map[string]string{"a.txt": "2\n", "README.md": "changed\n"})
	must(t, w.bot.MoveRef(ctx, "heads/"+branch, first, second))
	main = w.commitOn(t, w.main, "theirs", map[string]string{"theirs.txt": "x\n"})
	must(t, w.bot.MoveRef(ctx, "heads/main", w.main, main))
	return first, second, main
}

func TestCompareSaysHowTwoBranchesParted(t *testing.T) {
	w := newWorld(t, nil)
	first, second, main := w.parted(t, "feature/one")
	for _, c := range []struct {
		name, basehead, status string
		ahead, behind          int
		base                   string
	}{
		{"diverged", "main...feature%2Fone", "diverged", 2, 1, w.main},
		{"slash-as-it-is", "main...feature/one", "diverged", 2, 1, w.main},
		{"owner-named", "owner:main...owner:feature%2Fone", "diverged", 2, 1, w.main},
		{"ahead", w.main + "..." + second, "ahead", 2, 0, w.main},
		{"behind", second + "..." + first, "behind", 0, 1, first},
		{"identical", main + "...main", "identical", 0, 0, main},
	} {
		got := w.compared(t, c.basehead)
		if got.Status != c.status || got.Ahead != c.ahead || got.Behind != c.behind || got.Total != c.ahead || got.Base.SHA != c.base || len(got.Commits) != c.ahead {
			t.Errorf("%s: got %+v, want %s by %d and %d from %.12s", c.name, got, c.status, c.ahead, c.behind, c.base)
		}
	}
	got := w.compared(t, "main...feature%2Fone")
	if len(got.Commits) != 2 || got.Commits[0].SHA != first || got.Commits[1].SHA != second {
		t.Errorf("commits: got %v, want %.12s and then %.12s", got.Commits, first, second)
	}
	var files []string
	for _, f := range got.Files {
		files = append(files, f.Status+" "+f.Filename)
	}
	if want := []string{"modified README.md", "added a.txt"}; !slices.Equal(files, want) {
		t.Errorf("files: got %q, want %q, and none of main's", files, want)
	}
}

// A page has its commits; the files are on the first one.
func TestComparePages(t *testing.T) {
	w := newWorld(t, nil)
	first, second, _ := w.parted(t, "topic")
	one, two := w.compared(t, "main...topic?per_page=1"), w.compared(t, "main...topic?per_page=1&page=2")
	if len(one.Commits) != 1 || one.Commits[0].SHA != first || len(one.Files) != 2 || one.Total != 2 {
		t.Errorf("first page: got %+v, want %.12s with two files of a total of two commits", one, first)
	}
	if len(two.Commits) != 1 || two.Commits[0].SHA != second || len(two.Files) != 0 || two.Base.SHA != w.main {
		t.Errorf("second page: got %+v, want %.12s without files", two, second)
	}
}

// However much has changed, an answer is bounded.
func TestCompareIsBounded(t *testing.T) {
	w := newWorld(t, nil)
	blob := git(t, w.Git.Dir, "rev-parse", "main:README.md")
	var entries []string
	for i := range comparedFiles + 5 {
		entries = append(entries, fmt.Sprintf(`{"path":"many/%03d","mode":"100644","type":"blob","sha":%q}`, i, blob))
	}
	tree := w.put(t, "POST", "/git/trees", `{"base_tree":"`+w.main+`","tree":[`+strings.Join(entries, ",")+`]}`, 201)
	wide := w.put(t, "POST", "/git/commits", `{"message":"wide","tree":"`+field(t, tree, "sha")+`","parents":["`+w.main+`"]}`, 201)
	if got := w.compared(t, "main..."+field(t, wide, "sha")); len(got.Files) != comparedFiles || got.Ahead != 1 {
		t.Errorf("got %d files of %d commits, want %d of 1", len(got.Files), got.Ahead, comparedFiles)
	}
}

func TestMergeBase(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	_, second, _ := w.parted(t, "feature/one")
	for name, pair := range map[string][2]string{"branches": {"main", "feature/one"}, "hashes": {"main", second}} {
		if got, err := w.bot.MergeBase(ctx, pair[0], pair[1]); err != nil || got != w.main {
			t.Errorf("%s: got %s %v, want %s", name, got, err, w.main)
		}
	}
	for name, pair := range map[string][2]string{"no-such-base": {"absent", second}, "no-such-head": {"main", strings.Repeat("1", 40)}} {
		if got, err := w.bot.MergeBase(ctx, pair[0], pair[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %s %v, want fs.ErrNotExist", name, got, err)
		}
	}
	tree := git(t, w.Git.Dir, "rev-parse", "main^{tree}")
	alone := git(t, w.Git.Dir, "-c", "user.name=owner", "-c", "user.email=owner@localhost", "commit-tree", "-m", "alone", tree)
	if _, err := w.bot.MergeBase(ctx, "main", alone); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "No common ancestor") {
		t.Errorf("no common ancestor: got %v", err)
	}
	w.put(t, "GET", "/compare/main", "", 404)
}
