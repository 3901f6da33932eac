package candidate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/report"
)

// sentences are the fixed words of a candidate, in both languages, so that
// nobody has to write any for a deterministic step.
type sentences struct {
	commit string // message of the commit with the edits
	change report.Prose
}

var program = report.Author{Kind: "program"}

// trailer marks the commits of a candidate as its own, and those of a later
// attempt as that attempt's.
func (w *work) trailer() string {
	if w.c.Attempt > 0 {
		return fmt.Sprintf("Refit-Candidate: %s attempt %d", w.c.ID, w.c.Attempt)
	}
	return "Refit-Candidate: " + w.c.ID
}

// signed says whether a commit's message carries exactly our trailer.
func (w *work) signed(message string) bool {
	return slices.Contains(strings.Split(message, "\n"), w.trailer())
}

func (w *work) tag() string {
	ref, err := image.Parse(w.c.NewImage)
	if err != nil || ref.Tag == "" {
		return w.c.NewImage
	}
	return ref.Tag
}

func (w *work) title() string {
	return w.pages().PullTitle(report.Title(w.c.Key(), w.tag()))
}

func (w *work) sentences() (sentences, error) {
	in, err := evidence[Inspected](w, "inspect")
	if err != nil {
		return sentences{}, err
	}
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return sentences{}, err
	}
	s := sentences{change: report.Change(w.c.NewImage)}
	var why strings.Builder
	for _, e := range in.Edits {
		s.change = changeOf(w.c.NewImage, e)
		why.WriteString("\n" + changeLine(e))
	}
	s.commit = fmt.Sprintf("Update %s image to %s\n\n%s -> %s (%s)%s\n\n%s\n",
		w.c.Key(), w.tag(), w.c.OldImage, w.c.NewImage, r.NewDigest, why.String(), w.trailer())
	return s, nil
}

// entry is the changelog entry: exactly this family, no modifiers, one plain
// sentence of at most 120 characters. pull 0 leaves the placeholder.
func (w *work) entry(pull int) recipe.ChangelogEntry {
	link := "XXX"
	if pull > 0 {
		link = w.pullLink(pull)
	}
	text := fmt.Sprintf("Update image to %s", w.c.NewImage)
	if len([]rune(text)) > 120 {
		text = fmt.Sprintf("Update image to %s", w.tag())
	}
	return recipe.ChangelogEntry{ConfigKeys: []string{w.c.Key()}, Description: []string{text}, PRLink: link}
}

// pullLink is the canonical spelling of a pull request in the changelog. It
// names the repository and not a server: the file outlives every port.
func (s *Shepherd) pullLink(n int) string {
	return fmt.Sprintf("https://github.com/%s/pull/%d", s.Forge.Repository, n)
}

// runURL is where people look at a workflow run.
func (s *Shepherd) runURL(run int64, attempt int) string {
	return fmt.Sprintf("%s/actions/runs/%d/attempts/%d", s.Web, run, attempt)
}
