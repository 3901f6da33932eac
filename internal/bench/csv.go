package bench

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"
)

// csvHead are the columns of a CSV file. Times ending in _s are seconds, those
// of sending since the start of the run. A concurrency of 0 is no cap.
var csvHead = []string{"concurrency", "request_rate", "request", "session", "turn", "intended_s", "queued_s", "lag_s", "sent_s", "connect_s",
	"ttft_s", "first_text_s", "tpot_s", "e2el_s", "ended_s", "input_tokens", "requested_tokens", "output_tokens", "tokens_from", "error_kind", "error"}

// writeCSV writes a line for every request of every measurement. What a
// request does not have is empty.
func writeCSV(w io.Writer, rs []Result) error {
	out := csv.NewWriter(w)
	_ = out.Write(csvHead) // Error tells
	for _, r := range rs {
		for i, q := range r.Requests {
			_ = out.Write(csvLine(r.Workload, i, q))
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

func csvLine(w Workload, i int, q Request) []string {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	given := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return seconds(d)
	}
	tpot, tokens, rate := "", "", "inf"
	if v, ok := q.TPOT(); ok && q.Error == "" {
		tpot = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if q.TokensFrom != "" {
		tokens = strconv.Itoa(q.OutputTokens)
	}
	if w.Rate > 0 {
		rate = strconv.FormatFloat(w.Rate, 'f', -1, 64)
	}
	return []string{strconv.Itoa(w.Concurrency), rate, strconv.Itoa(i), strconv.Itoa(q.Session), strconv.Itoa(q.Turn),
		seconds(q.Intended), seconds(q.Queued), seconds(q.Lag), seconds(q.Sent), seconds(q.Connect),
		given(q.TTFT), given(q.FirstText), tpot, given(q.Latency), given(q.Ended),
		strconv.Itoa(q.InputTokens), strconv.Itoa(q.Requested), tokens, q.TokensFrom, q.ErrorKind, q.Error}
}
