package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clusterDocument is a status document made at a moment: cluster-a and
// cluster-b have room, cluster-c is exactly 80 % in use.
func clusterDocument(made time.Time) string {
	at := made.UTC().Format(time.RFC3339)
	cluster := func(id string, total, allocated, idle int) string {
		return fmt.Sprintf(`{"clusterId":%q,"observedAt":%q,"receivedAt":%q,"stale":false,"status":"operational","summary":{"totalNodes":%d,`+
			`"allocatedNodes":%d,"mixedNodes":0,"idleNodes":%d,"downNodes":0,"otherNodes":0}}`, id, at, at, total, allocated, idle)
	}
	return fmt.Sprintf(`{"schemaVersion":6,"kind":"inferencex.status.clusters","generatedAt":%q,"data":{"available":true,"clusters":[%s,%s,%s]}}`,
		at, cluster("cluster-a", 8, 4, 4), cluster("cluster-b", 18, 14, 4), cluster("cluster-c", 5, 4, 1))
}

// clusters writes what the examples of capacity read, made now.
func (x *exampler) clusters(t *testing.T) {
	t.Helper()
	x.write(t, "clusters.json", clusterDocument(time.Now()))
	x.write(t, "nodes.txt", time.Now().UTC().Format(time.RFC3339)+"\nn1|allocated\nn2|idle\n")
}

// The document of an address is asked once, with the key of the file.
func TestCapacityOfAnAddress(t *testing.T) {
	made := time.Date(2026, 9, 19, 12, 0, 30, 0, time.UTC)
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, clusterDocument(made))
	}))
	defer srv.Close()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("k1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(now time.Time, code int, eligible ...bool) {
		t.Helper()
		var out, said bytes.Buffer
		e := env{stdin: strings.NewReader(""), stdout: &out, stderr: &said, now: func() time.Time { return now }}
		got := execute(t.Context(), e, []string{"capacity", "check", "--cluster", "cluster-a", "cluster-c",
			"--status", srv.URL + "/api/status/clusters", "--key-file", key, "--json"})
		if got != code || said.Len() > 0 {
			t.Errorf("exit code %d, want %d\n%s", got, code, &said)
		}
		var answer struct {
			Eligible bool
			Clusters []clusterAnswer
		}
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil || answer.Eligible || len(answer.Clusters) != 2 {
			t.Fatalf("%v\n%s", err, &out)
		}
		for i, c := range answer.Clusters {
			if c.Eligible != eligible[i] || (c.Reason == "") != eligible[i] {
				t.Errorf("got %+v, want eligible %v with a reason when not", c, eligible[i])
			}
		}
	}
	check(made.Add(120*time.Second), exitRefused, true, false)
	check(made.Add(121*time.Second), exitRefused, false, false)
	if want := "GET /api/status/clusters Bearer k1"; len(asked) != 2 || asked[0] != want || asked[1] != want {
		t.Errorf("asked %q, want twice %q", asked, want)
	}
}
