package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// ClusterStatus is the private status document after reading. It holds figures
// of clusters: it is never published, and errors about it hold none.
type ClusterStatus struct {
	GeneratedAt time.Time
	Clusters    []Cluster // in the document's order; an id may be repeated
}

// Cluster is what is known about one cluster. Odd says what of it is missing or
// not as the document's form wants it, "" when nothing is; then the rest is void.
type Cluster struct {
	ID         string
	ObservedAt time.Time
	ReceivedAt time.Time
	Stale      bool // the server's word
	Status     string
	Nodes      Nodes
	Odd        string
}

// Nodes counts the nodes of a cluster. Every node is one of the five kinds below Total.
type Nodes struct {
	Total, Allocated, Mixed, Idle, Down, Other int64
}

// statusKind marks the document. Its schemaVersion is not looked at: newer
// versions add fields.
const statusKind = "inferencex.status.clusters"

var clusterID = regexp.MustCompile(`^[a-z0-9][a-z0-9._+-]{0,63}$`)

// ParseClusterStatus reads the status document. It is an error when the document
// as a whole says nothing: it is not of its kind, has no time or no list of
// clusters, repeats a key, holds a number that is not finite, or says itself
// that it has no data. What is wrong with one cluster is that cluster's Odd.
func ParseClusterStatus(src []byte) (ClusterStatus, error) {
	doc, err := parseClusterStatus(src)
	if err != nil {
		return ClusterStatus{}, fmt.Errorf("status document: %w", err)
	}
	return doc, nil
}

func parseClusterStatus(src []byte) (ClusterStatus, error) {
	if err := finite(src, '{'); err != nil {
		return ClusterStatus{}, err
	}
	top, err := rowFields(bytes.TrimSpace(src))
	if err != nil {
		return ClusterStatus{}, err
	}
	if kind := top.text("kind"); kind != statusKind {
		top.bad("kind", strconv.Quote(statusKind))
	}
	doc := ClusterStatus{GeneratedAt: top.time("generatedAt")}
	data := top.inside("data")
	if !data.boolean("available") {
		data.bad("available", "true: the dashboard has no data now")
	}
	var clusters []json.RawMessage
	if raw := data.raw["clusters"]; len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &clusters) != nil {
		data.bad("clusters", "a list")
	}
	if err := first(top.err, data.err); err != nil {
		return ClusterStatus{}, err
	}
	for _, raw := range clusters {
		doc.Clusters = append(doc.Clusters, parseCluster(raw))
	}
	return doc, nil
}

// parseCluster keeps the id of an odd cluster, so that its repetition is seen.
func parseCluster(raw json.RawMessage) Cluster {
	f, err := rowFields(raw)
	if err != nil {
		return Cluster{Odd: err.Error()}
	}
	c := Cluster{ID: f.text("clusterId")}
	if !clusterID.MatchString(c.ID) {
		f.bad("clusterId", "small letters, digits and ._+-, at most 64")
	}
	c.ObservedAt, c.ReceivedAt = f.time("observedAt"), f.time("receivedAt")
	c.Stale, c.Status = f.boolean("stale"), f.text("status")
	n := f.inside("summary")
	c.Nodes = Nodes{
		Total: n.count("totalNodes"), Allocated: n.count("allocatedNodes"), Mixed: n.count("mixedNodes"),
		Idle: n.count("idleNodes"), Down: n.count("downNodes"), Other: n.count("otherNodes"),
	}
	if err := first(f.err, n.err); err != nil {
		c.Odd = err.Error()
	}
	return c
}

func first(err, second error) error {
	if err == nil {
		return second
	}
	return err
}

// inside is the object that a member is. Where it is none, everything asked of
// it is missing.
func (f *fields) inside(name string) *fields {
	in, err := rowFields(f.raw[name])
	if err != nil {
		f.bad(name, "an object")
		return &fields{}
	}
	return in
}

func (f *fields) time(name string) time.Time {
	t, err := time.Parse(time.RFC3339, f.text(name))
	if err != nil {
		f.bad(name, "a time as RFC 3339 has it")
	}
	return t
}

// count is an integer from 0 up to 2,147,483,647: sums and multiples of counts
// stay exact.
func (f *fields) count(name string) int64 {
	n, err := strconv.ParseInt(string(f.raw[name]), 10, 32)
	if err != nil || n < 0 {
		f.bad(name, "an integer of at least 0")
	}
	return n
}
