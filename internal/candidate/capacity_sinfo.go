package candidate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/result/api"
)

// sinfoFormat is what sinfo is asked for: one line per node and partition, with
// a separator that is in no name.
const sinfoFormat = "%N|%T"

// parseSinfo reads a record of one cluster made on Slurm: on its first line the
// time in UTC (2026-09-19T12:00:30Z), then what `sinfo -h -N -o '%N|%T'` printed.
// A node of several partitions is listed for each and counts once.
//
// The record says by itself when it was made: the time of a file is that of its
// last copy. Errors name the line, and nothing of the cluster.
func parseSinfo(id string, src []byte) (api.ClusterStatus, error) {
	head, body, _ := strings.Cut(string(src), "\n")
	made, err := time.Parse(time.RFC3339, strings.TrimSpace(head))
	if err != nil {
		return api.ClusterStatus{}, errors.New("line 1: want the time of the record, as `date -u +%Y-%m-%dT%H:%M:%SZ` prints it")
	}
	nodes, err := sinfoNodes(body)
	if err != nil {
		return api.ClusterStatus{}, err
	}
	return api.ClusterStatus{GeneratedAt: made, Clusters: []api.Cluster{{
		ID: id, ObservedAt: made, ReceivedAt: made, Status: "operational", Nodes: nodes,
	}}}, nil
}

func sinfoNodes(body string) (api.Nodes, error) {
	var n api.Nodes
	seen := map[string]string{}
	row := 1 // the time
	for line := range strings.Lines(body) {
		row++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, state, ok := strings.Cut(line, "|")
		if !ok || name == "" || strings.ContainsAny(name, "[], ") {
			return n, fmt.Errorf("line %d: want one node and its state: record with sinfo -h -N -o '%s'", row, sinfoFormat)
		}
		before, twice := seen[name]
		if twice && before != state {
			return n, fmt.Errorf("line %d: a node is listed with two states: record again", row)
		}
		seen[name] = state
		if twice {
			continue
		}
		if kind := sinfoKind(&n, state); kind != nil {
			*kind++
			n.Total++
			continue
		}
		return n, fmt.Errorf("line %d: unknown state %q of a node", row, state)
	}
	return n, nil
}

// sinfoKind is the count that a node's state belongs to, nil for a state that
// Slurm does not have. A node on which a job may still run is in use, whatever
// becomes of it after; one that is idle with a flag (not responding, powered
// down, planned for another job) can take no job now.
func sinfoKind(n *api.Nodes, state string) *int64 {
	word := strings.TrimRight(state, "*~#!%$@^-+")
	flags := state[len(word):]
	switch word {
	case "allocated", "completing", "draining", "failing":
		return &n.Allocated
	case "mixed":
		return &n.Mixed
	case "idle":
		switch {
		case flags == "":
			return &n.Idle
		case strings.Contains(flags, "*"):
			return &n.Down
		}
		return &n.Other
	case "down", "drained", "fail":
		return &n.Down
	case "planned", "reserved", "maint", "perfctrs", "future", "reboot", "rebooting", "reboot_issued", "reboot_requested", "blocked", "inval", "unknown",
		"powered_down", "powering_down", "powering_up", "power_down", "power_up":
		return &n.Other
	}
	return nil
}
