package report

import (
	"regexp"
	"strconv"
	"strings"
)

// shape is the part of a label that points may share: "8192/1024" and "TP8 EP1".
var shape = regexp.MustCompile(`^(\d+/\d+|AgentX) c(\d+) (\S.*) [0-9a-f]{6}$`)

// layout says how the points of one page are laid out: whether concurrency
// alone tells them apart, and what they share.
type layout struct {
	byConc    bool
	workload  string // "8k/1k" when byConc
	topology  string // "TP8/EP1" when byConc
	statistic string // "mean" or "median" when all points share it
}

func layoutOf(ps []Point) layout {
	var l layout
	if len(ps) == 0 {
		return l
	}
	l.byConc, l.statistic = true, ps[0].Values.LatencyStatistic
	seen := map[int]bool{}
	for _, p := range ps {
		if p.Values.LatencyStatistic != l.statistic {
			l.statistic = ""
		}
		workload, topology, ok := settings(p)
		if len(seen) == 0 {
			l.workload, l.topology = workload, topology
		}
		if !ok || seen[p.Conc] || workload != l.workload || topology != l.topology {
			l.byConc = false
		}
		seen[p.Conc] = true
	}
	if !l.byConc || l.statistic == "" {
		l.byConc, l.workload, l.topology = false, "", ""
	}
	return l
}

// settings reads a point's workload and topology out of its label; false when
// the label is of another form or speaks of another concurrency.
func settings(p Point) (workload, topology string, ok bool) {
	m := shape.FindStringSubmatch(p.Label)
	if m == nil || m[2] != strconv.Itoa(p.Conc) {
		return "", "", false
	}
	return short(m[1]), strings.ReplaceAll(m[3], " ", "/"), true
}

// short abbreviates lengths that are exact multiples of 1024: 8192/1024 is 8k/1k.
func short(workload string) string {
	in, out, ok := strings.Cut(workload, "/")
	if !ok {
		return workload
	}
	return shortLength(in) + "/" + shortLength(out)
}

func shortLength(s string) string {
	n, err := strconv.Atoi(s)
	if err != nil || n == 0 || n%1024 != 0 {
		return s
	}
	return strconv.Itoa(n/1024) + "k"
}

// heading is the first column's title.
func (l layout) heading() string {
	if l.byConc {
		return "Concurrency"
	}
	return "Point"
}

// first is the first cell of a point's row.
func (l layout) first(p Point) string {
	if l.byConc {
		return strconv.Itoa(p.Conc)
	}
	if l.statistic == "" {
		return l.name(p) + " · " + p.Values.LatencyStatistic
	}
	return l.name(p)
}

// name is what notes call a point.
func (l layout) name(p Point) string {
	if l.byConc {
		return "c" + strconv.Itoa(p.Conc)
	}
	workload, rest, ok := strings.Cut(p.Label, " ")
	if !ok || !strings.Contains(workload, "/") {
		return p.Label
	}
	return short(workload) + " " + rest
}

// meta is what all points share, as parts of the meta line.
func (l layout) meta(zh bool) []string {
	var parts []string
	if l.byConc {
		parts = append(parts, l.workload, l.topology)
	}
	switch {
	case l.statistic == "mean" && zh:
		parts = append(parts, "平均延迟")
	case l.statistic == "median" && zh:
		parts = append(parts, "中位延迟")
	case l.statistic == "mean":
		parts = append(parts, "Mean latency")
	case l.statistic == "median":
		parts = append(parts, "Median latency")
	}
	return parts
}

// evalName is what tables and notes call an evaluation.
func evalName(e Evaluation) string { return e.Suite + "/" + e.Metric + " · " + e.Label }
