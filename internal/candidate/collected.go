package candidate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// What the points of a run leave beside their rows, and what is collected from
// it. Where one upload has one name, the points come together in one.
// Source: changelog specification, section 10.1.
var (
	benchmarks = gate.Collection{Name: "results_bmk", From: []string{"bmk_", together + "bmk"}}
	scores     = gate.Collection{Name: "eval_results_all", From: []string{"eval_", together + "eval"}, Not: []string{"eval_server_logs_", "eval_gpu_metrics_"}}
	rowsOf     = gate.Collection{Name: result.RowsArtifact, From: slices.Concat(benchmarks.From, scores.From), Not: append([]string{scores.Name}, scores.Not...)}
)

// together begins the name of an artifact with a folder for each point.
const together = "points_"

// collected judges whether the collections of a run hold what its points left,
// and whether its rows are made of that. A run that keeps its rows alone has
// nothing to disagree with.
func (w *work) collected(ctx context.Context, run forge.Run, listed []forge.Artifact, measured result.Run) ([]gate.Verdict, error) {
	var out []gate.Verdict
	parts, err := w.filesOf(ctx, listed, benchmarks.Of)
	if err != nil {
		return nil, err
	}
	left, err := pieces(parts)
	if err != nil {
		return nil, err
	}
	whole, err := w.elementsOf(ctx, listed, benchmarks)
	if err != nil {
		return nil, err
	}
	if len(left)+len(whole) > 0 {
		rows, err := madeOf(measured, since(run, listed))
		if err != nil {
			return nil, err
		}
		out = append(out, gate.Collected(benchmarks.Name, left, whole), gate.Carried(rows, left))
	}
	evals, err := w.collectedEvals(ctx, listed)
	return append(out, evals...), err
}

// collectedEvals collects the evaluations' files again and compares.
func (w *work) collectedEvals(ctx context.Context, listed []forge.Artifact) ([]gate.Verdict, error) {
	parts, err := w.filesOf(ctx, listed, scores.Of)
	if err != nil {
		return nil, err
	}
	whole, err := w.elementsOf(ctx, listed, scores)
	if err != nil || len(parts)+len(whole) == 0 {
		return nil, err
	}
	again, err := result.CollectEvals(parts)
	if err != nil {
		return nil, unusable(err.Error())
	}
	left, err := elements("evaluation", again)
	if err != nil {
		return nil, err
	}
	return []gate.Verdict{gate.Collected(scores.Name, left, whole)}, nil
}

// filesOf are the JSON files of the newest artifact of each name that is meant,
// below their artifact's name.
func (w *work) filesOf(ctx context.Context, listed []forge.Artifact, meant func(string) bool) (map[string][]byte, error) {
	newest := map[string]forge.Artifact{}
	for _, a := range listed {
		if meant(a.Name) {
			all := uploads(listed, a.Name)
			newest[a.Name] = all[len(all)-1]
		}
	}
	out := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(newest)) {
		if newest[name].Expired {
			return nil, unusable("artifact " + name + " has expired")
		}
		files, err := w.partOf(ctx, newest[name])
		if err != nil {
			return nil, err
		}
		for file, data := range files {
			if !strings.HasPrefix(name, together) {
				file = name + "/" + file
			}
			out[file] = data
		}
	}
	return out, nil
}

// partOf fetches the JSON files of an artifact once in an Advance: what has an
// id never changes, and there is one for every point.
func (w *work) partOf(ctx context.Context, a forge.Artifact) (map[string][]byte, error) {
	if files, ok := w.parts[a.ID]; ok {
		return files, nil
	}
	files, err := w.content(ctx, a)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return path.Ext(name) != ".json" })
	w.parts[a.ID] = files
	return files, nil
}

// elementsOf are the results that a collection holds.
func (w *work) elementsOf(ctx context.Context, listed []forge.Artifact, c gate.Collection) ([]gate.Piece, error) {
	files, err := w.filesOf(ctx, listed, func(name string) bool { return name == c.Name })
	if err != nil {
		return nil, err
	}
	var out []gate.Piece
	for _, name := range slices.Sorted(maps.Keys(files)) {
		more, err := elements(name, files[name])
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// elements are those of a JSON list. Where a result came from is left out: a
// run's own folders and a download's differ.
func elements(name string, data []byte) ([]gate.Piece, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, unusable(fmt.Sprintf("%s: %v", name, err))
	}
	var out []gate.Piece
	for i, item := range list {
		text, err := canonicalJSON(item)
		if err != nil {
			return nil, unusable(fmt.Sprintf("%s: result %d: %v", name, i+1, err))
		}
		out = append(out, gate.Piece{Name: fmt.Sprintf("result %d of %s", i+1, name), Text: text})
	}
	return out, nil
}

// pieces are files that hold one result each.
func pieces(files map[string][]byte) ([]gate.Piece, error) {
	var out []gate.Piece
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, err := canonicalJSON(files[name])
		if err != nil {
			return nil, unusable(fmt.Sprintf("%s: %v", name, err))
		}
		out = append(out, gate.Piece{Name: name, Text: text})
	}
	return out, nil
}

// since is the earliest attempt whose results are among the newest artifacts:
// the first where every point has one of its own, else the run's.
func since(run forge.Run, listed []forge.Artifact) int {
	if slices.ContainsFunc(listed, func(a forge.Artifact) bool { return strings.HasPrefix(a.Name, together) }) {
		return run.Attempt
	}
	return 1
}

// madeOf are the results that passed rows of an attempt, or a later one, carry.
func madeOf(measured result.Run, since int) ([]gate.Piece, error) {
	var out []gate.Piece
	for _, r := range measured.Rows {
		if r.Result != result.Passed || len(r.Agg) == 0 || r.Provenance.Attempt < since {
			continue
		}
		text, err := canonicalJSON(r.Agg)
		if err != nil {
			return nil, unusable(fmt.Sprintf("%s: %v", r.Label, err))
		}
		out = append(out, gate.Piece{Name: r.Label, Text: text})
	}
	return out, nil
}

// canonicalJSON spells one JSON value as any writer of the same value would.
func canonicalJSON(data []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	if row, ok := v.(map[string]any); ok {
		delete(row, "source")
	}
	text, err := workspace.Canonical(v)
	return string(text), err
}
