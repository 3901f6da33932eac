package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/report"
)

// CommentLedger keeps receipts in comments of the candidate's pull request:
// everybody who sees the repository sees them, and no store is shared. A
// comment holds the receipts of one write and is never edited.
//
// Only the owner of the candidate is believed: who opened the pull request, or
// adopted it since. The receipts of the steps before propose are in the claim
// until there is a pull request (see inherit).
type CommentLedger struct {
	Forge *forge.Client
	Pages report.Policy // prefix and languages of the records

	// View keeps what the lists of this machine showed last; nil keeps nothing.
	// Nothing is decided from it.
	View View

	mu      sync.Mutex
	session map[string]Receipt // doctor's, by candidate: it describes this machine, and stays on it
}

// View is a list of candidates as they were last seen.
type View interface {
	SaveCandidate(ctx context.Context, s Summary) error
	Candidates(ctx context.Context) ([]Summary, error)
}

var (
	_ Ledger  = (*CommentLedger)(nil)
	_ batcher = (*CommentLedger)(nil)
)

// receiptsVersion is the version of the records that hold receipts.
const receiptsVersion = 1

// posted is the record of one write.
type posted struct {
	Version   int       `json:"version"`
	Candidate Candidate `json:"candidate"`
	Receipts  []Receipt `json:"receipts"`
}

// Receipts returns the receipts of a candidate, oldest first: those of its pull
// requests, and doctor's of this process. A Tampered says that somebody else
// has edited one of the comments: then nothing comes back.
func (l *CommentLedger) Receipts(ctx context.Context, id string) ([]Receipt, error) {
	k, err := l.kept(ctx, id)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.session[id]; ok {
		k.receipts = append(k.receipts, r)
	}
	return k.receipts, nil
}

// Append adds one receipt; the candidate must have a pull request.
func (l *CommentLedger) Append(ctx context.Context, r Receipt) error {
	k, err := l.kept(ctx, r.Candidate)
	if err == nil && k.candidate.ID == "" {
		err = errNoPull
	}
	if err != nil {
		return fmt.Errorf("append receipt %s of %s: %w", r.Step, r.Candidate, err)
	}
	return l.AppendAll(ctx, k.candidate, []Receipt{r})
}

// errNoPull says that there is no place for receipts yet.
var errNoPull = errors.New("no pull request that could hold it")

// AppendAll adds receipts in one comment. Where they do not fit, numbered parts
// are written first and the comment that makes them count last. Doctor's is
// kept in this process only.
func (l *CommentLedger) AppendAll(ctx context.Context, c Candidate, rs []Receipt) error {
	rs = l.withoutDoctor(rs)
	if len(rs) == 0 {
		return nil
	}
	pull, err := l.home(ctx, c, rs)
	if err != nil {
		return err
	}
	comments, err := l.comments(c, rs)
	if err != nil {
		return err
	}
	var there []forge.Comment
	if len(comments) > 1 { // some may have been written before an answer was lost
		if there, err = l.Forge.Comments(ctx, pull); err != nil {
			return fmt.Errorf("comments of #%d: %w", pull, err)
		}
	}
	for _, one := range comments {
		if slices.ContainsFunc(there, func(c forge.Comment) bool { return c.Body == one.Body }) {
			continue
		}
		if _, err := l.Forge.AddComment(ctx, pull, one.Body); err != nil {
			return fmt.Errorf("publish %s: %w", one.Name, err)
		}
	}
	return nil
}

// withoutDoctor takes doctor's receipts out and remembers the newest.
func (l *CommentLedger) withoutDoctor(rs []Receipt) []Receipt {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Receipt
	for _, r := range rs {
		if r.Step != "doctor" {
			out = append(out, r)
			continue
		}
		if l.session == nil {
			l.session = map[string]Receipt{}
		}
		l.session[r.Candidate] = r
	}
	return out
}

// home is the pull request that holds receipts: the one that propose names,
// else the one of the candidate's branch, an open one first.
func (l *CommentLedger) home(ctx context.Context, c Candidate, rs []Receipt) (int, error) {
	for _, r := range rs {
		var p Proposed
		if r.Step == "propose" && json.Unmarshal(r.Evidence, &p) == nil && p.Pull > 0 {
			return p.Pull, nil
		}
	}
	pulls, err := l.Forge.PullsByHead(ctx, c.Branch(l.Pages.Prefix))
	if err != nil {
		return 0, fmt.Errorf("pull requests of %s: %w", c.Branch(l.Pages.Prefix), err)
	}
	if len(pulls) == 0 {
		return 0, errNoPull
	}
	slices.SortStableFunc(pulls, func(a, b forge.Pull) int { return shut(a) - shut(b) })
	return pulls[0].Number, nil
}

// comments are the comments that hold receipts, in the order to write them.
func (l *CommentLedger) comments(c Candidate, rs []Receipt) ([]report.NamedComment, error) {
	p := posted{receiptsVersion, c, slices.Clone(rs)}
	var lines []report.ReceiptLine
	for i, r := range rs {
		p.Receipts[i].At = r.At.UTC()
		lines = append(lines, report.ReceiptLine{Step: r.Step, At: r.At, Detail: Describe(r)})
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("receipts of %s: %w", c.ID, err)
	}
	last := rs[len(rs)-1].Step
	return l.Pages.ReceiptRecords(c.Parent, c.ID, last, data, l.Pages.ReceiptsComment(lines))
}

// SaveCandidate keeps the last computed state for the lists of this machine.
func (l *CommentLedger) SaveCandidate(ctx context.Context, s Summary) error {
	if l.View == nil {
		return nil
	}
	return l.View.SaveCandidate(ctx, s)
}

// marker begins every comment with receipts of this prefix.
func (l *CommentLedger) marker() string {
	return strings.TrimSuffix(l.Pages.Marker(report.ReceiptKind, "", "", ""), ":")
}
