package candidate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result/api"
)

// resultsPatience is how long doctor waits for the published results: it ends in
// seconds, whoever is slow.
const resultsPatience = 3 * time.Second

// checkResults looks if the published results may be read. Results that are out
// of reach for a moment are no refusal: only a baseline needs them, and says so.
func (s *Shepherd) checkResults(ctx context.Context, _ Doctored) (gate.Verdict, error) {
	short, cancel := context.WithTimeout(ctx, resultsPatience)
	defer cancel()
	feed, err := s.Feeds.ImageFeed(short)
	var refused *api.StatusError
	switch {
	case ctx.Err() != nil:
		return gate.Verdict{}, fmt.Errorf("published results: %w", ctx.Err())
	case errors.As(err, &refused) && (refused.Code == http.StatusUnauthorized || refused.Code == http.StatusForbidden):
		return fail("results", "%s does not let us read (%v): the key of the dashboard is missing or wrong", s.APIURL, refused), nil
	case err != nil:
		return unknown("results", "%s cannot be read now (%v): a baseline needs it", s.APIURL, err), nil
	case len(feed.Aside) > 0:
		return pass("results", "%s is read; %d rows of its newest images are set aside", s.APIURL, len(feed.Aside)), nil
	}
	return pass("results", "%s is read", s.APIURL), nil
}
