package api

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const goodStatus = `{"schemaVersion":7,"kind":"inferencex.status.clusters","generatedAt":"2026-09-19T12:00:30Z","data":{"available":true,"clusters":[
{"clusterId":"a","observedAt":"2026-09-19T12:00:02Z","receivedAt":"2026-09-19T12:00:05Z","stale":false,"status":"operational",
"summary":{"totalNodes":8,"allocatedNodes":3,"mixedNodes":1,"idleNodes":4,"downNodes":0,"otherNodes":0},"note":"new"}]}}`

func TestSampleOfClusterStatus(t *testing.T) {
	doc, err := ParseClusterStatus(shared(t, "status-clusters.json"))
	if err != nil || len(doc.Clusters) != 4 || !doc.GeneratedAt.Equal(time.Date(2026, 9, 19, 12, 0, 30, 0, time.UTC)) {
		t.Fatalf("%+v, %v", doc, err)
	}
	want := Cluster{
		ID: "mi355x-amds", ObservedAt: time.Date(2026, 9, 19, 12, 0, 3, 0, time.UTC), ReceivedAt: time.Date(2026, 9, 19, 12, 0, 6, 0, time.UTC),
		Status: "degraded", Nodes: Nodes{Total: 8, Allocated: 4, Idle: 3, Down: 1},
	}
	if diff := cmp.Diff(want, doc.Clusters[2]); diff != "" {
		t.Errorf("third cluster (-want +got):\n%s", diff)
	}
	if c := doc.Clusters[3]; !c.Stale || c.Odd != "" {
		t.Errorf("fourth cluster %+v, want a stale one", c)
	}
}

// What is missing or odd about one cluster is told without its figures.
func TestOddCluster(t *testing.T) {
	check := func(old, new, want string) {
		t.Helper()
		if !strings.Contains(goodStatus, old) {
			t.Fatalf("no %s in the document", old)
		}
		doc, err := ParseClusterStatus([]byte(strings.Replace(goodStatus, old, new, 1)))
		if err != nil || len(doc.Clusters) != 1 || doc.Clusters[0].Odd != want {
			t.Errorf("%s: %+v, %v, want %q", new, doc.Clusters, err, want)
		}
	}
	check(`"new"`, `[1]`, "")
	check(`"a"`, `"A b"`, "clusterId: want small letters, digits and ._+-, at most 64")
	check(`"a"`, `"-a"`, "clusterId: want small letters, digits and ._+-, at most 64")
	check(`"a"`, `"`+strings.Repeat("a", 64)+`"`, "")
	check(`"a"`, `"`+strings.Repeat("a", 65)+`"`, "clusterId: want small letters, digits and ._+-, at most 64")
	check(`"clusterId":"a",`, ``, "clusterId: want text that is not empty")
	check(`"stale":false`, `"stale":"false"`, "stale: want true or false")
	check(`"stale":false,`, ``, "stale: want true or false")
	check(`"status":"operational"`, `"status":null`, "status: want text that is not empty")
	check(`12:00:02Z`, `12:00:02`, "observedAt: want a time as RFC 3339 has it")
	check(`"receivedAt":"2026-09-19T12:00:05Z",`, ``, "receivedAt: want text that is not empty")
	check(`"totalNodes":8`, `"totalNodes":8.0`, "totalNodes: want an integer of at least 0")
	check(`"totalNodes":8`, `"totalNodes":"8"`, "totalNodes: want an integer of at least 0")
	check(`"mixedNodes":1`, `"mixedNodes":-1`, "mixedNodes: want an integer of at least 0")
	check(`"mixedNodes":1`, `"mixedNodes":4294967297`, "mixedNodes: want an integer of at least 0")
	check(`"otherNodes":0`, `"otherNode":0`, "otherNodes: want an integer of at least 0")
	check(`"summary"`, `"sum"`, "summary: want an object")
}

func TestStatusDocumentThatSaysNothing(t *testing.T) {
	check := func(old, new, want string) {
		t.Helper()
		doc, err := ParseClusterStatus([]byte(strings.Replace(goodStatus, old, new, 1)))
		if err == nil || err.Error() != "status document: "+want {
			t.Errorf("%s: %+v, %v, want %s", new, doc, err, want)
		}
	}
	check(goodStatus, ``, `want a JSON value that starts with "{"`)
	check(goodStatus, `[]`, `want a JSON value that starts with "{"`)
	check(`"kind":"inferencex.status.clusters"`, `"kind":"other"`, `kind: want "inferencex.status.clusters"`)
	check(`"kind":"inferencex.status.clusters",`, ``, "kind: want text that is not empty")
	check(`"generatedAt":"2026-09-19T12:00:30Z"`, `"generatedAt":1789819230`, "generatedAt: want text that is not empty")
	check(`"generatedAt":"2026-09-19T12:00:30Z"`, `"generatedAt":"today"`, "generatedAt: want a time as RFC 3339 has it")
	check(`"available":true`, `"available":false`, "available: want true: the dashboard has no data now")
	check(`"available":true,`, ``, "available: want true or false")
	check(`"data":`, `"date":`, "data: want an object")
	check(`"clusters":`, `"cluster":`, "clusters: want a list")
	check(`"totalNodes":8`, `"totalNodes":1e400`, "a number is not finite")
	check(`"totalNodes":8`, `"totalNodes":8,"totalNodes":9`, `key "data.clusters[0].summary.totalNodes" is repeated`)
}
