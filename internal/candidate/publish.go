package candidate

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
)

// upsert publishes named comments: an existing one of the same name by this
// login is edited when it differs, a missing one is added. It returns the
// address of the last.
func (w *work) upsert(ctx context.Context, pull int, comments []report.NamedComment) (string, error) {
	mine, err := w.published(ctx, pull)
	if err != nil {
		return "", err
	}
	return w.upsertOver(ctx, pull, mine, comments)
}

// upsertOver is upsert where the records that stand were just read.
func (w *work) upsertOver(ctx context.Context, pull int, mine map[string]publication, comments []report.NamedComment) (string, error) {
	var url string
	for _, c := range comments {
		if w.Keep != nil {
			if err := w.Keep(w.c.ID, c.Name, c.Body); err != nil {
				return "", fmt.Errorf("keep %s: %w", c.Name, err)
			}
		}
		rec, ok, err := report.ParseRecord(w.prefix(), c.Body)
		if err != nil || !ok {
			return "", fmt.Errorf("record %s does not parse as one: %w", c.Name, err)
		}
		old, ok := mine[rec.Kind+"/"+rec.Name]
		switch {
		case !ok:
			added, err := w.Forge.AddComment(ctx, pull, c.Body)
			if err != nil {
				return "", fmt.Errorf("publish %s: %w", c.Name, err)
			}
			url = added.URL
		case old.body != c.Body:
			if err := w.Forge.EditComment(ctx, old.id, c.Body); err != nil {
				return "", fmt.Errorf("publish %s: %w", c.Name, err)
			}
			url = old.url
		default:
			url = old.url
		}
	}
	return url, nil
}

// A publication is a record of this candidate that this login published.
type publication struct {
	id        int64
	body, url string
	record    report.Record
}

// published are the candidate's own records by kind and name. Comments by
// anyone else never count; of two with one marker the older stays.
func (w *work) published(ctx context.Context, pull int) (map[string]publication, error) {
	login, err := w.who(ctx)
	if err != nil {
		return nil, err
	}
	return w.publishedBy(ctx, pull, login)
}

func (w *work) publishedBy(ctx context.Context, pull int, login string) (map[string]publication, error) {
	there, err := w.Forge.Comments(ctx, pull)
	if err != nil {
		return nil, fmt.Errorf("comments of #%d: %w", pull, err)
	}
	mine := map[string]publication{}
	for _, c := range there {
		if c.Author != login {
			continue
		}
		rec, ok, err := report.ParseRecord(w.prefix(), c.Body)
		if err != nil || !ok || rec.ID != w.c.ID {
			continue
		}
		name := rec.Kind + "/" + rec.Name
		if _, twice := mine[name]; !twice {
			mine[name] = publication{c.ID, c.Body, c.URL, rec}
		}
	}
	return mine, nil
}

func (w *work) baselineRecord(b result.Baseline) (report.Baseline, error) {
	rec := report.FromBaseline(b, report.Goal(w.c.OldImage, w.c.NewImage), report.Status(report.BaselineFrozen), program)
	if err := rec.Validate(w.Config.Policy.Bilingual); err != nil {
		return rec, fmt.Errorf("baseline record: %w", err)
	}
	return rec, nil
}

// frozenRecord is the baseline as rehearse froze it.
func (w *work) frozenRecord() (report.Baseline, error) {
	r, err := evidence[Rehearsed](w, "rehearse")
	if err != nil {
		return report.Baseline{}, err
	}
	return w.baselineRecord(r.Baseline)
}

// body is the pull request's description: the baseline block and what the
// source comparison found.
func (w *work) body() (string, error) {
	rec, err := w.frozenRecord()
	if err != nil {
		return "", err
	}
	in, err := evidence[Inspected](w, "inspect")
	if err != nil {
		return "", err
	}
	body := w.pages().Body(rec, report.SourceComparison(in.Comparison))
	if utf8.RuneCountInString(body) >= longestBody {
		body = w.pages().Body(rec, "**Source comparison:** too long for this page; `refit inspect` prints it.")
	}
	return body, nil
}

// longestBody is how many characters a pull request's description stays under:
// forges refuse much longer ones.
const longestBody = 60_000
