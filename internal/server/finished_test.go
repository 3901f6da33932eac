package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/store"
)

// leaving is a program that leaves other numbers each time it is started, as a
// measurement does, and writes down that it was.
const leaving = `#!/bin/sh
echo started >> %[1]s/starts
cp -r %[1]s/left-$(wc -l < %[1]s/starts)/. "$6"
`

// left writes what a run with the number leaves.
func left(t *testing.T, dir string, id int64, tps float64) {
	t.Helper()
	p := apiPoints(t)[0]
	head, none := strings.Repeat("a", 40), 0
	prov := result.Provenance{RunID: id, Attempt: 1, Head: head, Branch: "main", Event: "push", Started: time.Unix(0, 0).UTC(), Ended: time.Unix(1, 0).UTC()}
	row := result.Row{Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: apiImage, Digest: "sha256:" + strings.Repeat("d", 64), Label: p.Label(),
		Conc: p.Conc(), ISL: 256, OSL: 64, Scenario: matrix.Fixed, Result: result.Passed, RequestErrors: &none, Plan: p.Row, Provenance: prov, Metrics: map[string]float64{"output_tput_per_gpu": tps}}
	m := result.Manifest{Version: 1, RunID: id, Attempt: 1, Head: head, Mode: result.ModePush, Families: []result.ManifestFamily{{Family: p.Family, Image: apiImage, Digest: row.Digest,
		Points: []result.ManifestPoint{{Key: p.Key, Fingerprint: p.Fingerprint, Conc: p.Conc(), Label: p.Label()}}}}}
	manifest, err := json.Marshal(m)
	var rows bytes.Buffer
	if err == nil {
		err = result.WriteLines(&rows, []result.Line{{Kind: "row", Row: &row}})
	}
	for name, data := range map[string][]byte{"refit-manifest/manifest.json": manifest, "refit-rows/rows.jsonl": rows.Bytes()} {
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A run that is stored, but was not recorded as completed before its process
// was killed, is not measured again when the forge starts it again.
func TestStoredRunIsNotMeasuredAgain(t *testing.T) {
	h, dir := startHost(t), t.TempDir()
	h.Refit = filepath.Join(dir, "program")
	if err := os.WriteFile(h.Refit, fmt.Appendf(nil, leaving, dir), 0o755); err != nil {
		t.Fatal(err)
	}
	left(t, filepath.Join(dir, "left-1"), 7, 100)
	left(t, filepath.Join(dir, "left-2"), 8, 101)
	for i, c := range []struct {
		id     int64
		starts int
		tps    float64
	}{{7, 1, 100}, {7, 1, 100}, {8, 2, 101}} {
		out := filepath.Join(dir, fmt.Sprint("life-", i), "out") // each life begins with nothing
		if err := os.MkdirAll(out, 0o700); err != nil {
			t.Fatal(err)
		}
		r := local.RunRequest{ID: c.id, Attempt: 1, Workflow: "run-sweep.yml", Event: "push", HeadSHA: strings.Repeat("a", 40), HeadBranch: "main", Out: out, Log: out + ".log"}
		if err := h.run(t.Context(), r); err != nil {
			t.Fatalf("life %d of run %d: %v", i, c.id, err)
		}
		starts, err := os.ReadFile(filepath.Join(dir, "starts"))
		if n := bytes.Count(starts, []byte("\n")); err != nil || n != c.starts {
			t.Errorf("life %d: %d starts of the program (%v), want %d", i, n, err, c.starts)
		}
		artifacts, err := readArtifacts(out)
		if err != nil {
			t.Fatal(err)
		}
		run, err := result.ReadRun(artifacts)
		stored, bad := h.Store.Points(t.Context(), store.Query{RunID: c.id})
		if err != nil || bad != nil || len(run.Rows) != 1 || len(stored) != 1 {
			t.Fatalf("life %d: %d rows left (%v), %d stored (%v), want one each", i, len(run.Rows), err, len(stored), bad)
		}
		if a, b := run.Rows[0].Metrics["output_tput_per_gpu"], stored[0].Metrics["output_tput_per_gpu"]; a != c.tps || b != c.tps {
			t.Errorf("life %d: left %v, stored %v, want %v", i, a, b, c.tps)
		}
	}
	if kept, err := os.ReadDir(h.Workspace.State("finished")); err != nil || len(kept) != 1 || kept[0].Name() != "run-8-1" {
		t.Errorf("kept are %v (%v), want only the last run", kept, err)
	}
}
