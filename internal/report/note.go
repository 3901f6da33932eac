package report

import (
	"fmt"
	"strings"
)

// notes groups what is odd about rows by reason, in order of first appearance.
type notes struct {
	order  []string
	labels map[string][]string
	rows   int
}

func (n *notes) add(label string, reasons ...string) {
	if n.labels == nil {
		n.labels = map[string][]string{}
	}
	n.rows++
	for _, r := range reasons {
		if _, ok := n.labels[r]; !ok {
			n.order = append(n.order, r)
		}
		n.labels[r] = append(n.labels[r], label)
	}
}

// lines spells one line per reason: "**Note:** All rows: failed."
func (n *notes) lines() []string {
	var out []string
	for _, r := range n.order {
		who := "All rows"
		if len(n.labels[r]) != n.rows {
			who = strings.Join(n.labels[r], ", ")
		}
		out = append(out, "**Note:** "+escape(who)+": "+escape(r)+".")
	}
	return out
}

// pointReasons is what a note says about an attempt's point.
func pointReasons(old *Point, p Point) []string {
	var out []string
	if p.Result != "passed" {
		out = append(out, p.Result)
	}
	if e := p.Values.RequestErrors; e == nil {
		if p.Result == "passed" {
			out = append(out, "request errors unavailable")
		}
	} else if *e == 1 {
		out = append(out, "1 request error")
	} else if *e > 1 {
		out = append(out, fmt.Sprintf("%s request errors", count(*e)))
	}
	shown, lacking := false, false
	for _, m := range attemptMetrics() {
		shown = shown || m.of(p.Values) != nil
		_, lacks := cell(m, old, p, "")
		lacking = lacking || lacks
	}
	if reason := incomparable(old, p); reason != "" {
		if shown {
			out = append(out, reason)
		}
	} else if lacking {
		out = append(out, noValue)
	}
	return out
}

// evalReasons is what a note says about an attempt's evaluation.
func evalReasons(old *Evaluation, e Evaluation) []string {
	var out []string
	if e.Result != "passed" {
		out = append(out, e.Result)
	}
	if reason := incomparableEval(old, e); reason != "" && (e.Score != nil || e.Result == "passed") {
		out = append(out, reason)
	}
	return out
}
