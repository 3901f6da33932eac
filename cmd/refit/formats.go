package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/workspace"
)

// formats are the renderings of a candidate that `candidate show` offers
// beside its own summary.
type formats struct {
	html                           string
	csv, benchstat, markdown, term bool
}

func (f *formats) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.html, "html", "", "write the candidate's page, which stands alone, to a `file`")
	cmd.Flags().BoolVar(&f.csv, "csv", false, "print points, metrics and verdicts as CSV")
	cmd.Flags().BoolVar(&f.benchstat, "benchstat", false, "print all runs as Go benchmark text (benchstat -col image FILE)")
	cmd.Flags().BoolVar(&f.markdown, "markdown", false, "print the reports as they were published")
	cmd.Flags().BoolVar(&f.term, "table", false, "print the final report as a table")
	cmd.MarkFlagsMutuallyExclusive("json", "html", "csv", "benchstat", "markdown", "table")
}

func (f formats) asked() bool { return f.html != "" || f.csv || f.benchstat || f.markdown || f.term }

// print renders one candidate in the format that was asked for.
func (f formats) print(ctx context.Context, e env, w *workspace.Workspace, l server.Looking, id string) error {
	p, err := server.CandidatePage(ctx, w, l.Shepherd.Ledger, l.Store, id)
	if err != nil {
		return err
	}
	if f.html != "" {
		return f.page(e, w, p)
	}
	if f.markdown {
		for _, r := range p.Reports {
			fmt.Fprintf(e.stdout, "<!-- %s -->\n\n%s\n\n", r.Title, r.Markdown)
		}
		return nil
	}
	if p.Verdicts == nil || p.Attempt == nil || p.Baseline == nil {
		return fmt.Errorf("candidate %s has no finished sweep yet: nothing to compare", id)
	}
	switch {
	case f.csv:
		return report.CSV(e.stdout, p.Old, p.New, *p.Verdicts)
	case f.benchstat:
		return report.Benchstat(e.stdout, p.Old, p.New)
	}
	report.Terminal(e.stdout, *p.Attempt, *p.Baseline, p.Verdicts, isTerminal(e.stdout))
	return nil
}

// page writes the file whole or not at all.
func (f formats) page(e env, w *workspace.Workspace, p report.BoardPage) error {
	var b bytes.Buffer
	if err := (report.Site{Workspace: filepath.Base(w.Root)}).Candidate(&b, p); err != nil {
		return err
	}
	if err := workspace.WriteFile(f.html, b.Bytes(), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.stderr, "refit: wrote %s\n", f.html)
	return err
}
