package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzCIEvent(f *testing.F) {
	for _, s := range []string{
		`{"ref":"refs/heads/main","before":"","after":"x"}`, `{"inputs":{"generate-cli-command":"test-config --config-keys a b --conc 1 2 --smoke"}}`,
		`{"pull_request":{"labels":[{"name":"x"}],"head":{"sha":"a","repo":{"full_name":"o/r"}},"base":{"repo":null}},"label":null}`, `null`, `{"pull_request":{}}`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := parseEvent(src)
		if err != nil {
			return
		}
		e.branch()
		if e.kind() == "pull_request" {
			e.labels()
			e.Pull.fork()
			decide(e, "message [skip-sweep]", "full-sweep")
		}
		if c, err := parseCommand(e.Inputs["generate-cli-command"]); err == nil && len(c.Keys) == 0 {
			t.Errorf("parseEvent(%q): a command without a config key", src)
		}
	})
}

func FuzzLoadJob(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `{"version":1,"name":"../x"}`,
		`{"version":1,"name":"n","throughput":true,"checkout":"/a","out":"/b","script":"../s","row":{"conc":1}}`,
		`{"version":1,"name":"n","throughput":true,"checkout":"/a","out":"/b","script":"s","row":{"conc":1},"env":["A=b"]}`} {
		f.Add([]byte(s))
	}
	file := filepath.Join(f.TempDir(), "job.json")
	f.Fuzz(func(t *testing.T, src []byte) {
		if err := os.WriteFile(file, src, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := LoadJob(file)
		if err == nil && (strings.ContainsAny(j.Name, "/\x00") || !filepath.IsLocal(j.Script) || !filepath.IsAbs(j.Out)) {
			t.Errorf("LoadJob(%q): got name %q, script %q, out %q", src, j.Name, j.Script, j.Out)
		}
	})
}
