package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/store"
)

// seedStore is the command `seedstore DB FILE` of the scripts: it stores runs
// that the file describes, one a line:
//
//	ID published|unpublished FAMILY TAG CONC=TPS... [answers=N,WRONG] [score=S,N]
//
// A point has TPS output tokens per second and GPU. Of the N answers of the
// eval at concurrency 1 the first WRONG are wrong; a score has no answers.
func seedStore() {
	if err := seed(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "seedstore:", err)
		os.Exit(1)
	}
}

func seed(ctx context.Context, db, file string) error {
	s, err := store.Open(ctx, db)
	if err != nil {
		return err
	}
	defer s.Close()
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	created := time.Date(2026, 9, 10, 6, 0, 0, 0, time.UTC)
	for lines := bufio.NewScanner(f); lines.Scan(); created = created.Add(time.Hour) {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		id, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return err
		}
		head := strings.Repeat("c", 40)
		run := store.WorkflowRun{ID: id, Attempt: 1, Name: "Run Sweep", HeadSHA: head, Conclusion: "success", Created: created}
		rows, err := seedRows(words[2], "lab/simengine:"+words[3], words[4:])
		if err != nil {
			return fmt.Errorf("run %d: %w", id, err)
		}
		rows.Manifest = result.Manifest{Version: 1, RunID: id, Attempt: 1, Head: head, Mode: result.ModePush, Families: rows.Manifest.Families}
		provenance := result.Provenance{RunID: id, Attempt: 1, Head: head, Client: "refit", Started: created, Ended: created}
		for i := range rows.Rows {
			rows.Rows[i].Provenance = provenance
		}
		for i := range rows.Evals {
			rows.Evals[i].Provenance = provenance
		}
		if _, err := s.Ingest(ctx, run, rows, words[1] == "published"); err != nil {
			return err
		}
	}
	return nil
}

// seedRows are the rows of one run, and the family of its manifest.
func seedRows(key, image string, words []string) (result.Run, error) {
	family, digest := "configs/lab-master.yaml:"+key, fmt.Sprintf("sha256:%064x", image)[:71]
	mf := result.ManifestFamily{Family: family, Image: image, Digest: digest}
	var out result.Run
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		first, second, _ := strings.Cut(value, ",")
		a, _ := strconv.ParseFloat(first, 64)
		b, _ := strconv.ParseFloat(second, 64)
		if conc, err := strconv.Atoi(name); err == nil {
			row, err := seedPoint(family, image, digest, conc, a)
			if err != nil {
				return out, err
			}
			out.Rows = append(out.Rows, row)
			mf.Points = append(mf.Points, result.ManifestPoint{Key: row.Key, Fingerprint: row.Fingerprint, Conc: conc, Label: row.Label})
			continue
		}
		point := out.Rows[0]
		e := result.EvalRow{Family: family, Key: point.Key, Fingerprint: point.Fingerprint, Image: image, Digest: digest, Label: point.Label, Conc: point.Conc,
			Suite: "gsm8k", Metric: result.StrictMetric, Result: result.Passed, Score: &a, Samples: int(b)}
		if name == "answers" {
			score := 1 - b/a
			e.Score, e.Samples = &score, int(a)
			for i := range int(a) {
				e.Answers = append(e.Answers, eval.Answer{DocID: i, QuestionDigest: fmt.Sprint(i), Target: "7", Filtered: "7", Correct: i >= int(b)})
			}
		}
		out.Evals = append(out.Evals, e)
		mf.Evals = append(mf.Evals, mf.Points[0])
	}
	out.Manifest.Families = []result.ManifestFamily{mf}
	return out, nil
}

func seedPoint(family, image, digest string, conc int, tps float64) (result.Row, error) {
	var plan matrix.Row
	text := fmt.Sprintf(`{"image":%q,"model":"lab/tiny-a","model-prefix":"laba","precision":"fp8","framework":"sim","spec-decoding":"none","runner":"cpu_00","isl":256,"osl":64,"tp":1,"pp":1,"dcp-size":1,"pcp-size":1,"ep":1,"dp-attn":false,"conc":%d,"disagg":false}`, image, conc)
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		return result.Row{}, err
	}
	none := 0
	return result.Row{Family: family, Key: fmt.Sprintf("%064x", conc), Fingerprint: strings.Repeat("f", 64), Image: image, Digest: digest,
		Label: fmt.Sprintf("256/64 c%d TP1", conc), Conc: conc, ISL: 256, OSL: 64, Scenario: matrix.Fixed, Result: result.Passed,
		Requests: 10, RequestErrors: &none, Health: bench.Health{Verdict: bench.Healthy}, Plan: plan,
		Metrics: map[string]float64{"tput_per_gpu": 5 * tps, "output_tput_per_gpu": tps, "mean_ttft": 0.0125, "mean_tpot": 1 / tps}}, nil
}
