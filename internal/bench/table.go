package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// table shows measurements at several concurrencies, one a line. Times are
// the corrected ones: to the first text and between texts, so that a chat's
// opening role and an empty last message count for nothing.
func table(w io.Writer, rs []Result) error {
	if len(rs) == 0 {
		return nil
	}
	t, work := rs[0].Target, rs[0].Workload
	fmt.Fprintf(w, "%s at %s, %s, %s, seed %d, times in ms\n",
		t.Model, t.URL, t.API, work.shape(), work.Seed)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "conc\trequests\treq/s\toutput tok/s\tTTFT p50\tp99\tTPOT p50\tp99\tITL p99\terrors\tclient\t\n")
	at := []float64{50, 99}
	for _, r := range rs {
		n := r.Totals(nil)
		first, tpot, itl := r.Stats(r.firstMetric(), at), r.Stats("tpot", at), r.Stats("text-itl", at)
		output := "unknown"
		if n.Unknown == 0 {
			output = fmt.Sprintf("%.1f", n.OutputPerSecond)
		}
		fmt.Fprintf(tw, "%s\t%d\t%.2f\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t\n", r.Workload.capName(), len(r.Requests), n.RequestsPerSecond, output,
			ms(first, 50), ms(first, 99), ms(tpot, 50), ms(tpot, 99), ms(itl, 99), n.Failed, r.Health.Verdict)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for _, r := range rs {
		for _, note := range r.notes() {
			fmt.Fprintf(w, "%s: %s\n", r.Workload.name(), note)
		}
	}
	return nil
}

// ms is a percentile of a sample of seconds, nothing when the sample is too
// small to say anything about it.
func ms(s Stats, p float64) string {
	v := 1000 * s.Percentiles[p]
	switch {
	case !enough(s.N, p):
		return "-"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// muchCached is the share of prompt tokens from a prefix cache above which a
// measurement is not of what it says.
const muchCached = 0.02

// notes are what a reader of the figures must know beside them.
func (r Result) notes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	h, n := r.Health, r.Totals(nil)
	if h.Agreement != nil {
		add("%s", h.Agreement)
		add("first tokens waited %v in the median and at most %v for their prompt's turn", short(h.Agreement.WaitMedian), short(h.Agreement.WaitMax))
	}
	for _, reason := range h.Reasons {
		add("client %s: %s", h.Verdict, reason)
	}
	if doubt := r.uncounted(); doubt != "" && !slices.Contains(h.Reasons, doubt) {
		add("warning: %s", doubt)
	}
	for _, doubt := range r.legacyDoubts() {
		add("warning: %s", doubt)
	}
	notes = append(notes, r.loadNotes()...)
	if n.EarlyStops > 0 {
		add("%d answers ended before the length asked for", n.EarlyStops)
	}
	prompt := 0
	for _, q := range r.Requests {
		prompt += max(q.PromptTokens, q.InputTokens)
	}
	if hits := h.PrefixCacheHits; hits != nil && *hits > 0 {
		kind := "note"
		if *hits > muchCached*float64(prompt) {
			kind = "warning"
		}
		add("%s: the server took %.0f of %d prompt tokens from its prefix cache", kind, *hits, prompt)
	}
	if e := h.Engine; e != nil {
		if e.RunningBefore != nil && *e.RunningBefore > 0 {
			add("warning: the server had %.0f requests of others when the run began", *e.RunningBefore)
		}
		if e.PromptTokens != nil && n.Failed == 0 && *e.PromptTokens > (1+muchCached)*float64(prompt) {
			add("warning: the server read %.0f prompt tokens during the run, %d of them ours", *e.PromptTokens, prompt)
		}
	}
	return notes
}

// short is a duration to three digits.
func short(d time.Duration) time.Duration {
	unit := time.Microsecond
	for d.Abs() >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit)
}
