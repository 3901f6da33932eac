package report

import (
	"fmt"
	"strings"
)

// ReceiptComment is the page of an outcome receipt.
func (p Policy) ReceiptComment(r Receipt) string {
	s := Situation(r.Outcome)
	measured, zh := measuredIn(r.Origins)
	head := lines("**Outcome: "+r.Outcome+"** · "+r.Phase+" · "+stamp(r.Finished), p.receiptMeta(r), measured)
	page := []string{head, Status(s).EN + " " + Next(s).EN}
	if p.Bilingual {
		page = append(page, details("中文", lines("**结果："+r.Outcome+"** · "+r.Phase+" · "+stamp(r.Finished),
			Status(s).chinese()+Next(s).chinese(), zh)))
	}
	return sections(page...)
}

func (p Policy) receiptMeta(r Receipt) string {
	parts := []string{fmt.Sprintf("Repairs %d/%d", r.RepairsUsed, p.budget())}
	var runs []string
	for _, run := range r.RunIDs {
		runs = append(runs, p.runOnly(run))
	}
	if len(runs) > 0 {
		parts = append(parts, "Runs "+strings.Join(runs, ", "))
	}
	if r.Head != "" {
		parts = append(parts, "head "+code(abbreviated(r.Head)))
	}
	if r.MeasuredAt != "" && r.MeasuredAt != r.Head {
		parts = append(parts, "measured at "+code(abbreviated(r.MeasuredAt)))
	}
	if r.Digest != "" {
		parts = append(parts, code(r.Digest))
	}
	if r.Reason != "" {
		parts = append(parts, escape(r.Reason))
	}
	for _, m := range r.Marks {
		parts = append(parts, "mark: "+escape(m))
	}
	return strings.Join(parts, " · ")
}

// runOnly links a run without saying which attempt.
func (p Policy) runOnly(id int64) string {
	if p.RunURL == nil {
		return fmt.Sprint(id)
	}
	return link(fmt.Sprint(id), strings.TrimSuffix(p.RunURL(id, 0), "/attempts/0"))
}

// CleanupComment is the page of an unsuccessful end that is being carried out.
func (p Policy) CleanupComment(c Cleanup) string {
	branch := Prose{"The branch is deleted.", "分支将被删除。"}
	if c.Branch == "kept" {
		branch = Prose{"The branch is kept.", "分支将保留。"}
	}
	page := []string{
		"**Cleanup pending: " + c.Outcome + "** · " + c.Phase + " · " + stamp(c.Started),
		c.Why.EN + " Own runs are cancelled and awaited, sweep labels removed, and the pull request closed. " + branch.EN,
	}
	if p.Bilingual {
		page = append(page, details("中文", "**待清理："+c.Outcome+"** · "+c.Phase,
			c.Why.chinese()+"将取消并等待自有运行结束，移除 sweep 标签并关闭 PR。"+branch.ZH))
	}
	return sections(page...)
}
