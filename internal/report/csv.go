package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/result"
)

// CSV writes a comparison as one line per point and metric, then one per
// evaluation. Changes and their 95 % intervals are fractions of the old mean;
// of a score they are differences of fractions, and n is the number of
// questions that were paired. What is unknown is empty. old and new are the runs behind r, each
// of one family; without them the means are empty.
func CSV(w io.Writer, old, new [][]result.Row, r compare.Result) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"key", "label", "conc", "metric", "unit", "old-mean", "new-mean", "delta", "low", "high", "verdict", "n", "df"})
	for _, c := range r.Curves {
		m, _ := metricOf(string(c.Metric))
		before, after := map[string]float64{}, map[string]float64{}
		if m.of != nil {
			before, after = means(old, m), means(new, m)
		}
		for _, p := range c.Points {
			line := []string{p.Key, cellText(p.Label), strconv.Itoa(p.Conc), string(c.Metric), unitOf(c.Metric),
				exact(lookup(before, p.Key)), exact(lookup(after, p.Key))}
			line = append(line, changeCells(c, p)...)
			_ = out.Write(append(line, string(p.Verdict), strconv.Itoa(c.N), strconv.Itoa(c.DF)))
		}
	}
	for _, a := range r.Accuracy {
		_ = out.Write(accuracyLine(a))
	}
	out.Flush()
	return out.Error() // the writer remembers the first error
}

func accuracyLine(a compare.Accuracy) []string {
	line := []string{a.Key, cellText(a.Label), strconv.Itoa(a.Conc), cellText(a.Suite), "fraction", "", "", "", "", "", string(a.Verdict), strconv.Itoa(a.Samples), ""}
	if !compared(a) {
		return line
	}
	delta := a.New - a.Old
	if a.Samples > 0 {
		delta = float64(a.Gained-a.Lost) / float64(a.Samples) // without the noise of a difference
	}
	for i, v := range []float64{a.Old, a.New, delta, a.Low, a.High} {
		line[5+i] = exact(&v)
	}
	return line
}

// changeCells are delta, low and high of a point, as far as they are known.
func changeCells(c compare.Curve, p compare.PointVerdict) []string {
	if !measured(p) {
		return []string{"", "", ""}
	}
	if c.DF == 0 {
		return []string{exact(&p.Delta), "", ""}
	}
	return []string{exact(&p.Delta), exact(&p.Low), exact(&p.High)}
}

// measured says whether a point has figures on both sides: only then it has a
// verdict of its own or a change that is not the zero of "nothing known".
func measured(p compare.PointVerdict) bool {
	if !finite(p.Delta) || !finite(p.Low) || !finite(p.High) {
		return false
	}
	return p.Verdict != compare.Inconclusive || p.Delta != 0 || p.Low != 0 || p.High != 0
}

func unitOf(m compare.Metric) string {
	if strings.HasSuffix(string(m), "-ms") {
		return "ms"
	}
	return "tok/s/GPU"
}

// exact spells a number so that reading it gives the same number.
func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// cellText keeps a spreadsheet from taking text of ours for a formula.
func cellText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
