package candidate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
)

// spoiled is a feed none of whose rows is valid.
type spoiled struct{ feeds }

func (spoiled) ImageFeed(context.Context) (api.ImageFeed, error) {
	return api.ImageFeed{Aside: []api.AsideRow{{Row: 0, Err: errors.New("date: want a day as YYYY-MM-DD")}, {Row: 1, Err: errors.New("want an object")}}}, nil
}

// A row that is not valid is no evidence that something was published; where it
// might have been the one that is missing, it is named.
func TestABaselineOfInvalidRowsSaysSo(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	s.Feeds = spoiled{feeds{w}}
	s.History = func(context.Context, string, string) ([]result.Row, []result.EvalRow, error) { return nil, nil, nil }
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	st, err := s.Rehearse(t.Context(), c)
	w.must(err)
	const want = "publish a run of the old image first (2 rows of the feed were set aside, the first because of date: want a day as YYYY-MM-DD)"
	if st.Outcome != Failed || !strings.HasSuffix(st.Reason, want) {
		t.Errorf("got %s (%s), want failed: ...%s", st.Outcome, st.Reason, want)
	}
}
