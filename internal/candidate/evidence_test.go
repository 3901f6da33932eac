package candidate

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/result"
)

// A leaver writes what a run leaves.
type leaver = func(r local.RunRequest, m result.Manifest, lines []result.Line) error

// usual is what runs leave.
func usual(r local.RunRequest, m result.Manifest, lines []result.Line) error {
	return leave(r.Out, m, lines)
}

// atSweep lets the sweep leave something else; other runs leave the usual.
func (w *world) atSweep(do leaver) {
	w.leaves = func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		if r.Event != "pull_request" {
			return usual(r, m, lines)
		}
		return do(r, m, lines)
	}
}

// swept goes on until the sweep has ended, and returns before anybody looked at
// what it left.
func (w *world) swept(s *Shepherd) (Candidate, forge.Run) {
	w.t.Helper()
	c, err := s.Select(w.t.Context(), family, "")
	w.must(err)
	for range 20 {
		st, err := s.Advance(w.t.Context(), c)
		w.must(err)
		if st.State == Done {
			w.t.Fatalf("it ended before its sweep: %s (%s)", st.Outcome, st.Reason)
		}
		w.forge.Wait()
		w.mu.Lock()
		i := slices.IndexFunc(w.runs, func(r local.RunRequest) bool { return r.Event == "pull_request" })
		w.mu.Unlock()
		if i >= 0 {
			run, err := s.Forge.Run(w.t.Context(), w.runs[i].ID)
			w.must(err)
			return c, run
		}
	}
	w.t.Fatal("no sweep after 20 advances")
	return c, forge.Run{}
}

// concluded goes on with a candidate until it has ended.
func (w *world) concluded(s *Shepherd, c Candidate) Status {
	w.t.Helper()
	for range 10 {
		st, err := s.Advance(w.t.Context(), c)
		w.must(err)
		if st.State == Done {
			return st
		}
		w.forge.Wait()
	}
	w.t.Fatal("no outcome after 10 advances")
	return Status{}
}

// inForge changes what the forge remembers.
func (w *world) inForge(query string, args ...any) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "forge.db")+"?_pragma=busy_timeout(10000)")
	w.must(err)
	defer db.Close()
	done, err := db.ExecContext(w.t.Context(), query, args...)
	w.must(err)
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		w.t.Fatalf("%s: nothing changed (%v)", query, err)
	}
}

// archive is the file in which the forge keeps an artifact of a run's attempt.
func (w *world) archive(run forge.Run, attempt int, name string) string {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "forge.db")+"?_pragma=busy_timeout(10000)")
	w.must(err)
	defer db.Close()
	var file string
	w.must(db.QueryRowContext(w.t.Context(), `SELECT file FROM artifact WHERE run = ? AND attempt = ? AND name = ?`, run.ID, attempt, name).Scan(&file))
	return filepath.Join(w.dir, "artifacts", fmt.Sprintf("run-%d-%d", run.ID, attempt), file)
}

// packed is an archive of named texts, in order; a name may come twice.
func packed(t testing.TB, entries ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := z.CreateHeader(&zip.FileHeader{Name: e[0], Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb is an archive of zeros: so many bytes as its header says, and as it holds.
func bomb(t testing.TB, says uint64, holds int) []byte {
	t.Helper()
	var deflated bytes.Buffer
	sum := crc32.NewIEEE()
	f, err := flate.NewWriter(&deflated, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for left := holds; left > 0; left -= len(zeros) {
		part := zeros[:min(left, len(zeros))]
		sum.Write(part)
		if _, err := f.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	out, err := z.CreateRaw(&zip.FileHeader{Name: result.RowsFile, Method: zip.Deflate, CRC32: sum.Sum32(),
		CompressedSize64: uint64(deflated.Len()), UncompressedSize64: says})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(deflated.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A refusal is a sweep whose evidence is not what it has to be: changed where it
// is made, or where the forge keeps it. N in want is the run's id.
type refusal struct {
	name  string
	leave leaver
	spoil func(w *world, run forge.Run)
	want  string
}

// changed lets a sweep leave what change makes of it.
func changed(change func(m *result.Manifest, lines []result.Line) []result.Line) leaver {
	return func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		lines = change(&m, lines)
		return leave(r.Out, m, lines)
	}
}

// rezipped puts another archive in the place of the rows.
func rezipped(entries func(w *world, rows string) [][2]string) func(*world, forge.Run) {
	return func(w *world, run forge.Run) {
		file := w.archive(run, 1, result.RowsArtifact)
		z, err := zip.OpenReader(file)
		w.must(err)
		defer z.Close()
		rows, err := fs.ReadFile(z, result.RowsFile)
		w.must(err)
		w.must(os.WriteFile(file, packed(w.t, entries(w, string(rows))...), 0o600))
	}
}

// overwritten puts other bytes in the place of the rows' archive.
func overwritten(data func(t testing.TB) []byte) func(*world, forge.Run) {
	return func(w *world, run forge.Run) {
		w.must(os.WriteFile(w.archive(run, 1, result.RowsArtifact), data(w.t), 0o600))
	}
}

// respelled changes the rows' text where it lies.
func respelled(old, text string) func(*world, forge.Run) {
	return rezipped(func(w *world, rows string) [][2]string {
		if !strings.Contains(rows, old) {
			w.t.Fatalf("the rows do not hold %s", old)
		}
		return [][2]string{{result.RowsFile, strings.Replace(rows, old, text, 1)}}
	})
}

// firstEval is the first line that is an evaluation.
func firstEval(lines []result.Line) *result.EvalRow {
	i := slices.IndexFunc(lines, func(l result.Line) bool { return l.Eval != nil })
	return lines[i].Eval
}

// refused lets every refusal happen: the candidate ends as failed, the reason
// names the rule, and nothing of the sweep is certified.
func refused(t *testing.T, cases []refusal) {
	for i := 0; i < len(cases); i += everyNth() {
		c := cases[i]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.leave != nil {
				w.atSweep(c.leave)
			}
			s := w.shepherd("bot-token")
			candidate, run := w.swept(s)
			if c.spoil != nil {
				c.spoil(w, run)
			}
			st := w.concluded(s, candidate)
			want := fmt.Sprintf("sweep run %d: ", run.ID)
			if reason := strings.ReplaceAll(c.want, "N", fmt.Sprint(run.ID)); st.Outcome != Failed || !strings.HasPrefix(st.Reason, want) || !strings.Contains(st.Reason, reason) {
				t.Errorf("got %s (%s), want failed by %q", st.Outcome, st.Reason, reason)
			}
			if have := w.ledger.have(); have["sweep"] || have["certify"] || have["finish"] {
				t.Errorf("receipts %s: want none of the sweep", w.ledger.steps())
			}
			p, err := s.Forge.Pull(t.Context(), 1)
			w.must(err)
			if p.State != "closed" || len(p.Labels) != 0 {
				t.Errorf("#1 is %s with labels %v, want closed without any", p.State, p.Labels)
			}
		})
	}
}

func TestASweepIsRefusedForItsPoints(t *testing.T) {
	foreign := strings.Repeat("f", 64)
	refused(t, []refusal{
		{name: "missing-point", want: "coverage: point missing: 256/64 c1 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line { return lines[1:] })},
		{name: "changed-point-with-a-copied-fingerprint", want: "settings: measured with other settings than the recipe's: 256/64 c1 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line {
				lines[0].Row.Plan.Set("osl", 32)
				return lines
			})},
		{name: "fingerprint-of-another-recipe", want: "coverage: point with another fingerprint: 256/64 c1 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line {
				lines[0].Row.Fingerprint = foreign
				return lines
			})},
		{name: "extra-point-in-place-of-a-missing-one", want: "coverage: manifest point missing: 256/64 c1 ",
			leave: changed(func(m *result.Manifest, lines []result.Line) []result.Line {
				m.Families[0].Points[0].Key, lines[0].Row.Key = foreign, foreign
				m.Families[0].Points[0].Label, lines[0].Row.Label = "256/64 c3", "256/64 c3"
				return lines
			})},
		{name: "missing-beside-the-extra-point", want: "; point missing: 256/64 c1 ",
			leave: changed(func(m *result.Manifest, lines []result.Line) []result.Line {
				m.Families[0].Points[0].Key, lines[0].Row.Key = foreign, foreign
				return lines
			})},
		{name: "extra-point-that-nobody-expected", want: "artifacts: read run N: family " + family + ": point 256/64 c1 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line {
				lines[0].Row.Key = foreign
				return lines
			})},
		{name: "duplicate-point", want: ": measured twice",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line { return append(lines, lines[0]) })},
		{name: "failed-point", want: "coverage: point not passed: 256/64 c1 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line {
				lines[0].Row.Result = result.Failed
				return lines
			})},
		{name: "eval-missing", want: "coverage: eval missing: 256/64 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line { return lines[:len(lines)-1] })},
		{name: "eval-extra", want: "manifest eval extra: 256/64 c1 ",
			leave: changed(func(m *result.Manifest, lines []result.Line) []result.Line {
				e, p := *firstEval(lines), m.Families[0].Points[0]
				e.Key, e.Fingerprint, e.Label, e.Conc = p.Key, p.Fingerprint, p.Label, p.Conc
				m.Families[0].Evals = append(m.Families[0].Evals, p)
				return append(lines, result.Line{Kind: result.KindEval, Eval: &e})
			})},
		{name: "eval-moved", want: "does not expect it",
			leave: changed(func(m *result.Manifest, lines []result.Line) []result.Line {
				firstEval(lines).Key = m.Families[0].Points[0].Key
				return lines
			})},
		{name: "image-of-another-digest", want: "digest: another image was measured: 256/64 c1 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line {
				lines[0].Row.Digest = "sha256:" + foreign
				return lines
			})},
	})
}

func TestASweepIsRefusedForItsNumbers(t *testing.T) {
	refused(t, []refusal{
		{name: "not-finite-in-a-row", spoil: respelled(`"mean_ttft":0.01`, `"mean_ttft":1e400`), want: "artifacts: read run N: read rows: line 1: "},
		{name: "nan-in-a-row", spoil: respelled(`"mean_ttft":0.01`, `"mean_ttft":NaN`), want: "artifacts: read run N: read rows: line 1: "},
		{name: "not-finite-in-an-eval", spoil: respelled(`"score":0.95`, `"score":1e400`), want: "artifacts: read run N: read rows: line "},
		{name: "score-of-other-answers", want: "agreement: rows and what they are made of disagree: gsm8k 256/64 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line {
				all := 1.0
				firstEval(lines).Score = &all
				return lines
			})},
		{name: "faster-than-its-own-file", want: "agreement: rows and what they are made of disagree: 256/64 c1 ",
			leave: changed(func(_ *result.Manifest, lines []result.Line) []result.Line {
				lines[0].Row.Agg = aggregate(*lines[0].Row)
				lines[0].Row.Metrics["output_tput_per_gpu"] *= 2
				return lines
			})},
	})
}

func TestASweepIsRefusedForItsArchives(t *testing.T) {
	named := func(name string) func(*world, forge.Run) {
		return rezipped(func(_ *world, rows string) [][2]string { return [][2]string{{name, rows}} })
	}
	beside := func(name string) func(*world, forge.Run) {
		return rezipped(func(_ *world, rows string) [][2]string { return [][2]string{{result.RowsFile, rows}, {name, "x"}} })
	}
	const unusable = "unusable archive: zip: "
	refused(t, []refusal{
		{name: "climbing-path", spoil: named("../" + result.RowsFile), want: unusable + `"../rows.jsonl" is not a plain relative path`},
		{name: "climbing-inside", spoil: beside("a/../../x.json"), want: unusable + `"a/../../x.json" is not a plain relative path`},
		{name: "absolute-path", spoil: named("/etc/" + result.RowsFile), want: unusable + `"/etc/rows.jsonl" is not a plain relative path`},
		{name: "backslash", spoil: named(`..\` + result.RowsFile), want: unusable + `"..\\rows.jsonl" is not a plain relative path`},
		{name: "not-json", spoil: beside("run.sh"), want: `"run.sh" is neither .json nor .jsonl`},
		{name: "duplicate-target", spoil: beside(result.RowsFile), want: unusable + `"rows.jsonl" occurs twice`},
		{name: "duplicate-in-another-case", spoil: beside("ROWS.jsonl"), want: unusable + `"ROWS.jsonl" occurs twice`},
		{name: "not-an-archive", spoil: overwritten(func(testing.TB) []byte { return []byte("rows") }), want: unusable + "zip: not a valid zip file"},
		{name: "too-large-as-declared", want: unusable + "its files are too large: more than 268435456 bytes",
			spoil: overwritten(func(t testing.TB) []byte { return bomb(t, 256<<20+1, 10) })},
		{name: "bomb", want: unusable + "its files are too large: more than 268435456 bytes",
			spoil: overwritten(func(t testing.TB) []byte { return bomb(t, 257<<20, 257<<20) })},
		{name: "bomb-that-says-it-is-small", want: unusable + `"rows.jsonl": zip: not a valid zip file`,
			spoil: overwritten(func(t testing.TB) []byte { return bomb(t, 1000, 257<<20) })},
	})
}

func TestASweepIsRefusedForItsRun(t *testing.T) {
	other := strings.Repeat("d", 40)
	remade := func(change func(m *result.Manifest, p *result.Provenance)) leaver {
		return changed(func(m *result.Manifest, lines []result.Line) []result.Line {
			var none result.Provenance
			change(m, &none)
			for _, l := range lines {
				if l.Row != nil {
					change(m, &l.Row.Provenance)
				} else {
					change(m, &l.Eval.Provenance)
				}
			}
			return lines
		})
	}
	expire := func(name string) func(*world, forge.Run) {
		return func(w *world, run forge.Run) { w.must(os.Remove(w.archive(run, 1, name))) }
	}
	moved := func(name, when string) func(*world, forge.Run) {
		return func(w *world, run forge.Run) {
			w.inForge(`UPDATE artifact SET created = `+when+` WHERE run = ? AND name = ?`, run.ID, name)
		}
	}
	refused(t, []refusal{
		{name: "expired-rows", spoil: expire(result.RowsArtifact), want: "run: run N: artifact refit-rows has expired"},
		{name: "expired-manifest", spoil: expire(result.ManifestArtifact), want: "run: run N: artifact refit-manifest has expired"},
		{name: "manifest-of-another-attempt", want: "manifest: it is of attempt 2, run N is at attempt 1",
			leave: remade(func(m *result.Manifest, _ *result.Provenance) { m.Attempt = 2 })},
		{name: "artifacts-of-another-run", want: "manifest: it is of run 8, not of run N",
			leave: remade(func(m *result.Manifest, p *result.Provenance) { m.RunID, p.RunID = 8, 8 })},
		{name: "rows-of-another-run", want: "artifacts: read run N: family " + family + ": point 256/64 c1 ",
			leave: remade(func(_ *result.Manifest, p *result.Provenance) { p.RunID = 8 })},
		{name: "artifacts-of-another-head", want: "manifest: it was made for head dddddddddddd, the run is of head ",
			leave: remade(func(m *result.Manifest, p *result.Provenance) { m.Head, p.Head = other, other })},
		{name: "rows-of-another-head", want: "made by run N attempt 1 at dddddddddddd",
			leave: remade(func(_ *result.Manifest, p *result.Provenance) { p.Head = other })},
		{name: "artifact-older-than-the-run", spoil: moved(result.RowsArtifact, "created - 3600"), want: "run: run N: artifact refit-rows is older than the run"},
		{name: "artifact-made-after-the-run", spoil: moved(result.RowsArtifact, "created + 3600"), want: "run: run N: artifact refit-rows was made after the run had ended"},
		{name: "manifest-made-after-the-run", spoil: moved(result.ManifestArtifact, "created + 3600"), want: "artifact refit-manifest was made after the run had ended"},
		{name: "failed-run", want: "run: run N ended as failure",
			leave: func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
				return errors.Join(usual(r, m, lines), errors.New("a job failed"))
			}},
		{name: "run-without-artifacts-that-failed", want: "run: run N ended as failure",
			leave: func(local.RunRequest, result.Manifest, []result.Line) error { return errors.New("engine died") }},
	})
}

func TestACancelledSweepIsRefused(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	w.atSweep(func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
		err := w.client("maintainer-token").CancelRun(w.t.Context(), r.ID)
		return errors.Join(err, usual(r, m, lines), errors.New("told to end"))
	})
	c, run := w.swept(s)
	if run.Conclusion != "cancelled" {
		t.Fatalf("the run ended as %s", run.Conclusion)
	}
	st := w.concluded(s, c)
	if want := fmt.Sprintf("sweep run %d: run: run %d ended as cancelled", run.ID, run.ID); st.Outcome != Failed || st.Reason != want {
		t.Errorf("got %s (%s), want failed by %q", st.Outcome, st.Reason, want)
	}
}

// A sweep of a head that the branch has left is no sweep of what it is now: the
// new head is measured, and the old run stands behind nothing.
func TestARunOfAnotherHeadIsNotCertified(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	c, run := w.swept(s)
	branch := c.Branch("refit")
	recipe := w.file(branch, script)
	message, err := s.Forge.Message(t.Context(), run.HeadSHA)
	w.must(err)
	head := w.commitOn(branch, message, map[string][]byte{script: append(recipe, "# another line\n"...)}) // signed as ours
	w.forge.Wait()
	st := w.concluded(s, c)
	p, err := s.Forge.Pull(t.Context(), 1)
	w.must(err)
	if st.Outcome != Validated || p.HeadSHA != head {
		t.Fatalf("got %s at %.12s (%s), want validated at %.12s", st.Outcome, p.HeadSHA, st.Reason, head)
	}
	done := receiptOf[Certified](w, "certify")
	if done.RunID == run.ID || done.Head != head || done.Sweeps != 1 {
		t.Errorf("certified run %d of head %.12s with %d sweeps, want one of %.12s and not run %d", done.RunID, done.Head, done.Sweeps, head, run.ID)
	}
}

// aggregate is the file that a point leaves of its row.
func aggregate(r result.Row) json.RawMessage {
	file := map[string]any{"hw": "box", "conc": r.Conc, "recipe_fingerprint": r.Fingerprint}
	for name, v := range r.Metrics {
		file[name] = v
	}
	data, err := json.Marshal(file)
	if err != nil {
		panic(err)
	}
	return data
}

// scoresOf is the harness's file of an evaluation.
func scoresOf(e result.EvalRow) string {
	return fmt.Sprintf(`{"lm_eval_version": "0.4", "results": {"gsm8k": {"exact_match,strict-match": %v}},
		"configs": {"gsm8k": {"metric_list": [{"metric": "exact_match"}], "filter_list": [{"name": "strict-match"}]}}}`, *e.Score)
}

// partsOf are the files that passed points and evaluations leave of their own;
// the rows carry them from then on.
func partsOf(lines []result.Line) (bench, evals map[string][]byte) {
	bench, evals = map[string][]byte{}, map[string][]byte{}
	for _, l := range lines {
		switch {
		case l.Row != nil && l.Row.Result == result.Passed:
			l.Row.Agg = aggregate(*l.Row)
			bench[fmt.Sprintf("bmk_c%d/agg_c%d.json", l.Row.Conc, l.Row.Conc)] = l.Row.Agg
		case l.Eval != nil && l.Eval.Result == result.Passed:
			set := fmt.Sprintf("eval_c%d/", l.Eval.Conc)
			evals[set+"meta_env.json"] = fmt.Appendf(nil, `{"hw": "box", "conc": %d}`, l.Eval.Conc)
			evals[set+"results_2026-11-03T10-00-00.json"] = []byte(scoresOf(*l.Eval))
		}
	}
	return bench, evals
}

// collections are the files that are collected from those.
func collections(bench, evals map[string][]byte) (map[string][]byte, error) {
	whole, err := result.CollectBenchmarks(bench)
	if err != nil {
		return nil, err
	}
	all, err := result.CollectEvals(evals)
	return map[string][]byte{"results_bmk/agg_bmk.json": whole, "eval_results_all/agg_eval_all.json": all}, err
}

// put writes files below a folder.
func put(dir string, files map[string][]byte) error {
	var errs []error
	for name, data := range files {
		file := filepath.Join(dir, name)
		errs = append(errs, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644))
	}
	return errors.Join(errs...)
}

// alongside leaves, beside the usual, what points leave of their own and what is
// collected from it.
func alongside(r local.RunRequest, m result.Manifest, lines []result.Line) error {
	bench, evals := partsOf(lines)
	whole, err := collections(bench, evals)
	text := map[string][]byte{"eval_c16/trajectory.txt": []byte("not read")}
	return errors.Join(err, put(r.Out, bench), put(r.Out, evals), put(r.Out, whole), put(r.Out, text), leave(r.Out, m, lines))
}

// without takes an artifact away that a run has written.
func without(r local.RunRequest, names ...string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, os.RemoveAll(filepath.Join(r.Out, name)))
	}
	return errors.Join(errs...)
}

// rewritten changes a file that a run has written.
func rewritten(r local.RunRequest, name, old, text string) error {
	file := filepath.Join(r.Out, name)
	data, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(data, []byte(old)) {
		return errors.Join(err, fmt.Errorf("%s does not hold %s", name, old))
	}
	return os.WriteFile(file, bytes.Replace(data, []byte(old), []byte(text), 1), 0o644)
}

func TestASweepIsRefusedWhenAggregateAndRawDisagree(t *testing.T) {
	then := func(do func(local.RunRequest) error) leaver {
		return func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
			return errors.Join(alongside(r, m, lines), do(r))
		}
	}
	refused(t, []refusal{
		{name: "changed-in-the-aggregate", want: "collected: results_bmk is not what the points left: it lacks bmk_c1/agg_c1.json; it adds result 1 of results_bmk/agg_bmk.json",
			leave: then(func(r local.RunRequest) error {
				return rewritten(r, "results_bmk/agg_bmk.json", `"output_tput_per_gpu": 100`, `"output_tput_per_gpu": 101`)
			})},
		{name: "missing-in-the-aggregate", want: "it lacks bmk_c1/agg_c1.json",
			leave: then(func(r local.RunRequest) error {
				return os.WriteFile(filepath.Join(r.Out, "results_bmk/agg_bmk.json"), []byte("[]"), 0o644)
			})},
		{name: "no-aggregate", want: "results_bmk is not what the points left: it lacks bmk_c1/agg_c1.json",
			leave: func(r local.RunRequest, m result.Manifest, lines []result.Line) error {
				return errors.Join(alongside(r, m, lines), without(r, "results_bmk"))
			}},
		{name: "changed-in-the-raw-file", want: "carried: rows of which no point left the result: 256/64 c1 ",
			leave: then(func(r local.RunRequest) error {
				return rewritten(r, "bmk_c1/agg_c1.json", `"output_tput_per_gpu":100`, `"output_tput_per_gpu":90`)
			})},
		{name: "not-finite-in-the-aggregate", want: "artifacts: results_bmk/agg_bmk.json: result 1: ",
			leave: then(func(r local.RunRequest) error {
				return rewritten(r, "results_bmk/agg_bmk.json", `"output_tput_per_gpu": 100`, `"output_tput_per_gpu": 1e400`)
			})},
		{name: "eval-changed-in-the-aggregate", want: "collected: eval_results_all is not what the points left: it lacks result 1 of evaluation",
			leave: then(func(r local.RunRequest) error {
				return rewritten(r, "eval_results_all/agg_eval_all.json", `"em_strict": 0.95`, `"em_strict": 0.99`)
			})},
		{name: "eval-missing-in-the-aggregate", want: "eval_results_all is not what the points left: it lacks result ",
			leave: then(func(r local.RunRequest) error {
				return os.WriteFile(filepath.Join(r.Out, "eval_results_all/agg_eval_all.json"), []byte("[]"), 0o644)
			})},
		{name: "raw-file-of-a-point-expired", want: "artifacts: artifact bmk_c1 has expired",
			leave: alongside,
			spoil: func(w *world, run forge.Run) { w.must(os.Remove(w.archive(run, 1, "bmk_c1"))) }},
	})
}

func TestASweepWhoseAggregateAndRawAgreeIsCertified(t *testing.T) {
	w := newWorld(t)
	w.atSweep(alongside)
	_, st := w.upgrade(w.shepherd("bot-token"))
	if st.Outcome != Validated {
		t.Fatalf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
	done := receiptOf[Certified](w, "certify")
	var asked []string
	for _, g := range done.Gates {
		asked = append(asked, g.Gate)
	}
	if want := "run manifest coverage settings digest eval-digest health agreement collected carried collected roster tag policy"; strings.Join(asked, " ") != want {
		t.Errorf("gates: got %v, want %s", asked, want)
	}
}
