package candidate

import (
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/report"
)

// changeOf is the public sentence about an edit of the recipe.
func changeOf(newImage string, e engine.FileEdit) report.Prose {
	if name, gone := leftOut(e); gone {
		return report.ChangeLeaveOut(newImage, name, e.File)
	}
	return report.ChangeRename(newImage, e.Edit.Old, e.Edit.New, e.File)
}

// changeLine is the line about an edit in the commit's message.
func changeLine(e engine.FileEdit) string {
	if _, gone := leftOut(e); gone {
		return fmt.Sprintf("%s: without %s: %s", e.File, line(e.Edit.Old), line(e.Reason))
	}
	return fmt.Sprintf("%s: %s -> %s: %s", e.File, line(e.Edit.Old), line(e.Edit.New), line(e.Reason))
}

// leftOut is the name that an edit takes out of a recipe with its values.
func leftOut(e engine.FileEdit) (name string, gone bool) {
	if strings.TrimSpace(e.Edit.New) != "" {
		return "", false
	}
	for _, word := range strings.Fields(e.Edit.Old) {
		name = strings.Trim(word, `\,"'`)
		if name, _, _ = strings.Cut(name, "="); name != "" && name != "export" && name != "-" {
			return name, true
		}
	}
	return "a line", true
}
