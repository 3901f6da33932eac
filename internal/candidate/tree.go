package candidate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
)

// treeView is what a commit says about the candidate's family. All of it is
// data: nothing of a commit is run here.
type treeView struct {
	Commit   string
	FS       fs.FS
	Family   recipe.Family
	Runners  recipe.Runners
	Points   []matrix.Point
	Warnings []string
	Script   string // path of the recipe script
}

// view reads a commit once per Advance.
func (w *work) view(ctx context.Context, commit string) (treeView, error) {
	if v, ok := w.tree[commit]; ok {
		return v, nil
	}
	v, err := w.readTree(ctx, commit)
	if err != nil {
		return treeView{}, fmt.Errorf("commit %.12s: %w", commit, err)
	}
	w.tree[commit] = v
	return v, nil
}

func (w *work) readTree(ctx context.Context, commit string) (treeView, error) {
	fsys, err := w.Tree(ctx, commit)
	if err != nil {
		return treeView{}, err
	}
	v, err := w.readFS(fsys)
	v.Commit = commit
	return v, err
}

func (w *work) readFS(fsys fs.FS) (treeView, error) {
	v := treeView{FS: fsys}
	catalogue, err := recipe.Load(fsys, w.Paths.Masters, w.Paths.Runners)
	if err != nil {
		return treeView{}, err
	}
	v.Runners = catalogue.Runners
	if v.Family, err = catalogue.Family(w.c.Family); err != nil {
		return treeView{}, err
	}
	rule, err := matrix.ParseEvalRule(w.Config.Evals.Lengths, w.Config.Evals.Floor)
	if err != nil {
		return treeView{}, err
	}
	if v.Points, v.Warnings, err = matrix.Points(v.Family, catalogue.Runners, rule); err != nil {
		return treeView{}, err
	}
	v.Script, err = scriptOf(v)
	return v, err
}

// scriptOf finds the recipe script that serves the family's points.
func scriptOf(v treeView) (string, error) {
	if len(v.Points) == 0 {
		return "", fmt.Errorf("family %s has no points", v.Family.ID)
	}
	p := v.Points[0]
	script, tried, err := recipe.ScriptPath(v.FS, v.Family.Entry, p.Settings().Scenario, p.Row.Str("spec-decoding"))
	if err != nil {
		return "", fmt.Errorf("recipe script (looked for %v): %w", tried, err)
	}
	return script, nil
}

// depends are the paths whose bytes the family's measurements depend on,
// beside its own entry: the recipe script and the library it sources.
func (w *work) depends(v treeView) []string {
	paths := []string{v.Script}
	library := w.Paths.Library()
	if _, err := fs.Stat(v.FS, library); err == nil {
		paths = append(paths, library)
	}
	return paths
}

// digestOf is the SHA-256 of files of a tree, in the order given.
func digestOf(fsys fs.FS, paths ...string) (string, error) {
	h := sha256.New()
	for _, p := range paths {
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", p, len(data))
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// workKey names a set of measurements: every (fingerprint, concurrency) of a
// selection, throughput and evals apart.
func workKey(s matrix.Selection) []string {
	var keys []string
	for _, p := range s.Throughput {
		keys = append(keys, fmt.Sprintf("%s c%d", p.Fingerprint, p.Conc()))
	}
	for _, p := range s.Evals {
		keys = append(keys, fmt.Sprintf("%s c%d eval", p.Fingerprint, p.Conc()))
	}
	return keys
}

// overlay is a tree with the bytes of some of its files replaced.
type overlay struct {
	fs.FS
	files map[string][]byte
}

// ReadFile and Open prefer the replaced bytes; directories are the base's.
func (o overlay) ReadFile(name string) ([]byte, error) {
	if data, ok := o.files[name]; ok {
		return bytes.Clone(data), nil
	}
	return fs.ReadFile(o.FS, name)
}

func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	data, ok := o.files[name]
	if err != nil || !ok {
		return f, err
	}
	return replaced{f, bytes.NewReader(data)}, nil
}

func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(o.FS, name) }

// replaced is a file whose information is the original's and whose bytes are not.
type replaced struct {
	fs.File
	r *bytes.Reader
}

func (r replaced) Read(p []byte) (int, error) { return r.r.Read(p) }
