package report

import (
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/engine"
)

// What was read from a help text is weaker evidence than a source: every page
// names the command that printed it.
func TestSourceComparisonNamesTheHelpText(t *testing.T) {
	c := engine.Comparison{Old: engine.Side{Image: "toy/loom:v1", Read: engine.FromHelp, From: "loomserve serve --help"},
		New: engine.Side{Image: "toy/loom:v2", Commit: strings.Repeat("ab", 20), Read: engine.FromHelp, From: "loomserve serve --help"}}
	want := "**Source comparison:** `toy/loom:v1`, read from `loomserve serve --help` → " +
		"`toy/loom:v2` (commit `abababababab`), read from `loomserve serve --help`"
	if got, _, _ := strings.Cut(SourceComparison(c), "\n"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var page strings.Builder
	if err := pageTemplates.ExecuteTemplate(&page, "side", c.Old); err != nil {
		t.Fatal(err)
	}
	if want := `<code>toy/loom:v1</code> <span class="sub">read from <code>loomserve serve --help</code></span>`; page.String() != want {
		t.Errorf("got %s, want %s", page.String(), want)
	}
	c.Old.Read, c.Old.From = engine.FromSource, "usr/lib/loom"
	if got, _, _ := strings.Cut(SourceComparison(c), " → "); got != "**Source comparison:** `toy/loom:v1`" {
		t.Errorf("got %s", got)
	}
}
