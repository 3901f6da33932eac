package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/gate"
)

// Where clusters can be asked, a runner label has the room of its clusters; what
// cannot be asked has none.
func TestCapacityOfAWorkspace(t *testing.T) {
	w := fleetWorkspace(t, "version: 1\n")
	made := time.Date(2026, 9, 19, 12, 0, 30, 0, time.UTC)
	p := &Parts{Workspace: w, now: func() time.Time { return made }}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	status := func(name string, used int) string {
		at := made.Format(time.RFC3339)
		return write(name, fmt.Sprintf(`{"kind":"inferencex.status.clusters","generatedAt":%q,"data":{"available":true,"clusters":[{"clusterId":"box","observedAt":%q,"receivedAt":%q,`+
			`"stale":false,"status":"operational","summary":{"totalNodes":10,"allocatedNodes":%d,"mixedNodes":0,"idleNodes":%d,"downNodes":0,"otherNodes":0}}]}}`, at, at, at, used, 10-used))
	}
	records := func(text string) map[string]string { return map[string]string{"box": write("nodes.txt", text)} }
	check := func(name string, from CapacitySource, answer gate.Answer, reason string) {
		t.Helper()
		p.Room = from
		if got := p.capacity(t.Context(), "box"); got.Gate != "capacity" || got.Answer != answer || !strings.Contains(got.Reason, reason) {
			t.Errorf("%s: got %v, want %s with %q", name, got, answer, reason)
		}
	}
	check("nobody", CapacitySource{}, gate.Pass, "runs queue on this machine")
	check("roomy", CapacitySource{Status: status("a.json", 7)}, gate.Pass, "box may take one more sweep")
	check("80-percent", CapacitySource{Status: status("b.json", 8)}, gate.Fail, "box: it has no room now")
	check("no-file", CapacitySource{Status: filepath.Join(dir, "none.json")}, gate.Fail, "no such file")
	check("other-document", CapacitySource{Status: write("c.json", "{}")}, gate.Fail, "status document: kind")
	check("sinfo", CapacitySource{Sinfo: records(made.Format(time.RFC3339) + "\nn1|idle\n")}, gate.Pass, "box may take one more sweep")
	check("sinfo-full", CapacitySource{Sinfo: records(made.Format(time.RFC3339) + "\nn1|allocated\n")}, gate.Fail, "it has no room now")
	check("sinfo-old", CapacitySource{Sinfo: records("2026-09-19T12:00:00Z\nn1|idle\n")}, gate.Pass, "box may")
	check("sinfo-too-old", CapacitySource{Sinfo: records("2026-09-19T11:58:29Z\nn1|idle\n")}, gate.Fail, "more than 120 s old")
	p.Workspace.Config.Forge.Kind = "github"
	check("nobody-elsewhere", CapacitySource{}, gate.Pass, "runs queue at the forge")
	p.Workspace.Paths.Runners = "configs/none.yaml"
	check("no-runners", CapacitySource{Status: status("a.json", 7)}, gate.Fail, "configs/none.yaml")
}
