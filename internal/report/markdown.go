package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/compare"
)

const (
	bodyRows  = 12 // points shown in a pull request's body
	pageRows  = 20 // points or evals shown in one comment
	continued = "Results continue in numbered report comments."
)

// budget is how many repairs the policy allows.
func (p Policy) budget() int {
	if p.Repairs == 0 {
		return 5
	}
	return p.Repairs
}

// PullTitle is a pull request's title: prefix, English and Chinese.
func (p Policy) PullTitle(t Prose) string {
	if !p.Bilingual || t.ZH == "" {
		return p.Title + t.EN
	}
	return p.Title + t.EN + " / " + t.ZH
}

// Body is the block of a pull request's body that belongs to the program,
// between its markers: the baseline, where the candidate stands, and the extra
// sections, which are Markdown already.
func (p Policy) Body(b Baseline, extra ...string) string {
	s := p.baselineHead(b)
	shown := b.Points[:min(len(b.Points), bodyRows)]
	s = append(s, baselineTables(b, shown, b.Evals)...)
	s = append(s, "**Status:** "+b.Status.EN)
	s = append(s, extra...)
	s = append(s, preparedBy(b.PreparedBy))
	if p.Bilingual {
		zh := p.baselineChinese(b, "；数值及异常说明见上表。")
		s = append(s, details("中文", zh, "**状态：**"+b.Status.chinese()))
	}
	start, end := p.BodyMarkers()
	return start + "\n" + sections(s...) + "\n" + end
}

// BodyMarkers are the lines around the block that Body makes.
func (p Policy) BodyMarkers() (start, end string) {
	return "<!-- " + p.Prefix + "-baseline-body -->", "<!-- /" + p.Prefix + "-baseline-body -->"
}

// ReplaceBody puts block in the place of the old block of a pull request's
// body, or of the placeholder, or in front of everything. Other text is kept.
func (p Policy) ReplaceBody(body, block string) string {
	start, end := p.BodyMarkers()
	if i := strings.Index(body, start); i >= 0 {
		if n := strings.Index(body[i:], end); n >= 0 {
			return body[:i] + block + body[i+n+len(end):]
		}
	}
	placeholder := "<!-- " + p.Prefix + "-baseline -->"
	if strings.Contains(body, placeholder) {
		return strings.Replace(body, placeholder, block, 1)
	}
	if strings.TrimSpace(body) == "" {
		return block
	}
	return block + "\n\n" + body
}

// BaselineComment is the report of the frozen baseline; when it has more rows
// than one comment holds, the first of them (see BaselineRecords).
func (p Policy) BaselineComment(b Baseline) string {
	first := chunk(b.Points, b.Evals, 0)
	s := p.baselineHead(b)
	s = append(s, baselineTables(b, first.points, first.evals)...)
	if pages(b.Points, b.Evals) > 1 {
		s = append(s, continued)
	}
	s = append(s, preparedBy(b.PreparedBy))
	if p.Bilingual {
		s = append(s, details("中文", p.baselineChinese(b, "；数值及异常说明见表格。")))
	}
	return sections(s...)
}

// AttemptComment is the report of an attempt against the baseline. verdicts
// may be nil: without repeated measurements nothing is claimed. The extra
// sections are Markdown already and stand before the evidence.
func (p Policy) AttemptComment(a Attempt, base Baseline, verdicts *compare.Result, extra ...string) string {
	first := chunk(a.Points, a.Evals, 0)
	l, v := layoutOf(a.Points), newMarks(verdicts)
	s := []string{lines(p.attemptHeading(a, false), meta(a, l, false), "**Change:** "+a.Change.EN)}
	s = append(s, attemptTables(a, base, first.points, first.evals, v)...)
	if pages(a.Points, a.Evals) > 1 {
		s = append(s, continued)
	}
	s = append(s, lines(v.explain(base)...), "**Next:** "+a.Next.EN)
	s = append(s, extra...)
	s = append(s, evidence(a.Evidence), preparedBy(a.PreparedBy))
	if p.Bilingual {
		zh := lines(p.attemptHeading(a, true), meta(a, l, true),
			"**变更：**"+a.Change.chinese()+"实测数值及异常说明见上表。", v.explainChinese(), "**下一步：**"+a.Next.chinese())
		s = append(s, details("中文", zh))
	}
	return sections(s...)
}

func (p Policy) baselineHead(b Baseline) []string {
	m := append(layoutOf(b.Points).meta(false), sources(b, "Sources: ")...)
	return []string{lines("**Goal:** "+b.Goal.EN, "**Baseline:** "+b.Date+" · "+code(b.Image), strings.Join(m, " · "))}
}

func (p Policy) baselineChinese(b Baseline, ending string) string {
	m := append(layoutOf(b.Points).meta(true), sources(b, "来源： ")...)
	return lines("**目标：**"+b.Goal.chinese(), "**基线：**"+b.Date+" · "+code(b.Image), strings.TrimPrefix(strings.Join(m, " · ")+ending, "；"))
}

func sources(b Baseline, name string) []string {
	var links []string
	for i, s := range b.Sources {
		links = append(links, link(fmt.Sprintf("API %d", i+1), s))
	}
	if len(links) == 0 {
		return nil
	}
	return []string{name + strings.Join(links, ", ")}
}

// baselineTables are the tables of some of the baseline's rows with their notes.
func baselineTables(b Baseline, ps []Point, es []Evaluation) []string {
	var out []string
	if len(ps) > 0 {
		t, n := baselinePoints(layoutOf(b.Points), ps)
		out = append(out, t.markdown())
		if len(ps) == bodyRows && len(b.Points) > bodyRows {
			out = append(out, fmt.Sprintf("%d/%d points shown; remaining rows are in the baseline report.", len(ps), len(b.Points)))
		}
		out = append(out, lines(n.lines()...))
	}
	if len(b.Evals) == 0 {
		return append(out, "**Eval:** "+none)
	}
	if len(es) > 0 {
		t, n := baselineEvals(es)
		out = append(out, t.markdown(), lines(n.lines()...))
	}
	return out
}

func baselinePoints(l layout, ps []Point) (table, *notes) {
	ms := baselineMetrics()
	t, n := pointTable(l, ms), &notes{}
	for _, p := range ps {
		row := []string{l.first(p)}
		for _, m := range ms {
			row = append(row, number(m.of(p.Values)))
		}
		t.rows = append(t.rows, row)
		if p.Result == "passed" {
			n.add(l.name(p))
		} else {
			n.add(l.name(p), p.Result)
		}
	}
	return t, n
}

func baselineEvals(es []Evaluation) (table, *notes) {
	t, n := evalTable(), &notes{}
	for _, e := range es {
		t.rows = append(t.rows, []string{evalName(e), percent(e.Score), samples(e.Samples, nil)})
		if e.Result == "passed" {
			n.add(evalName(e))
		} else {
			n.add(evalName(e), e.Result)
		}
	}
	return t, n
}

// attemptTables are the tables of some of the attempt's rows with their notes.
func attemptTables(a Attempt, base Baseline, ps []Point, es []Evaluation, v marks) []string {
	var out []string
	if len(ps) > 0 {
		t, n := attemptPoints(a, base, ps, v)
		out = append(out, t.markdown(), lines(n.lines()...))
	}
	if len(es) > 0 {
		t, n := attemptEvals(a, base, es, v)
		out = append(out, t.markdown(), lines(n.lines()...))
	}
	return out
}

func attemptPoints(a Attempt, base Baseline, ps []Point, v marks) (table, *notes) {
	l, ms := layoutOf(a.Points), attemptMetrics()
	t, n := pointTable(l, ms), &notes{}
	for _, p := range ps {
		old := base.match(p)
		row := []string{l.first(p)}
		for _, m := range ms {
			text, _ := cell(m, old, p, v.point(m.name, p.Key))
			row = append(row, text)
		}
		t.rows = append(t.rows, row)
		n.add(l.name(p), append(pointReasons(old, p), earlier(a, p.Provenance)...)...)
	}
	return t, n
}

func attemptEvals(a Attempt, base Baseline, es []Evaluation, v marks) (table, *notes) {
	t, n := evalTable(), &notes{}
	for _, e := range es {
		old := base.matchEval(e)
		t.rows = append(t.rows, []string{evalName(e), evalCell(old, e, v.eval(e)), evalSamples(old, e)})
		n.add(evalName(e), append(evalReasons(old, e), earlier(a, e.Provenance)...)...)
	}
	return t, n
}

func pointTable(l layout, ms []metric) table {
	t := table{head: []string{l.heading()}, left: []bool{!l.byConc}}
	for _, m := range ms {
		t.head, t.left = append(t.head, m.head), append(t.left, false)
	}
	return t
}

func evalTable() table {
	return table{head: []string{"Eval", "Score ↑", "Samples"}, left: []bool{true, false, false}}
}

// attemptHeading is the line that says which attempt this is and how it stands.
func (p Policy) attemptHeading(a Attempt, zh bool) string {
	parts := []string{"**" + p.AttemptTitle(a, zh) + " · " + statusWord(a.Status, zh) + "**"}
	if a.RunID != nil && a.RunAttempt != nil {
		parts = append(parts, p.run(*a.RunID, *a.RunAttempt))
	}
	return strings.Join(append(parts, stamp(a.UpdatedAt)), " · ")
}

func (p Policy) run(id int64, attempt int) string {
	text := fmt.Sprintf("Run %d / attempt %d", id, attempt)
	if p.RunURL == nil {
		return text
	}
	return link(text, p.RunURL(id, attempt))
}

// AttemptTitle names an attempt: "Repair 2/5", in Chinese when zh.
func (p Policy) AttemptTitle(a Attempt, zh bool) string {
	switch {
	case a.Kind == "initial" && zh:
		return "初次尝试"
	case a.Kind == "initial":
		return "Initial attempt"
	case a.Kind == "repair" && zh:
		return fmt.Sprintf("修复 %d/%d", a.Number, p.budget())
	case a.Kind == "repair":
		return fmt.Sprintf("Repair %d/%d", a.Number, p.budget())
	case a.Kind == "infrastructure-retry" && zh:
		return fmt.Sprintf("基础设施重试 %d", a.Number)
	case a.Kind == "infrastructure-retry":
		return fmt.Sprintf("Infrastructure retry %d", a.Number)
	case zh:
		return "最终完整 sweep"
	}
	return "Final full sweep"
}

// meta is the line of what the attempt ran: image, head, shared settings.
func meta(a Attempt, l layout, zh bool) string {
	return strings.Join(append([]string{code(a.Image), code(abbreviated(a.Head))}, l.meta(zh)...), " · ")
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }

// lines joins the lines of a block with hard breaks, leaving out empty ones.
func lines(ls ...string) string { return join("  \n", ls) }

// sections joins blocks with an empty line, leaving out empty ones.
func sections(blocks ...string) string { return join("\n\n", blocks) }

func join(sep string, parts []string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}

// details is a collapsed section.
func details(summary string, blocks ...string) string {
	return "<details><summary>" + summary + "</summary>\n\n" + sections(blocks...) + "\n\n</details>"
}

// abbreviated is the part of a commit's name that pages show.
func abbreviated(commit string) string { return commit[:min(len(commit), 12)] }
