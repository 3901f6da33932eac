package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
)

func TestDrivingNeedsACandidate(t *testing.T) {
	want := errors.New("no such family")
	st, err := DriveJudged(context.Background(), &candidate.Shepherd{}, func() (candidate.Candidate, error) { return candidate.Candidate{}, want }, time.Second)
	if !errors.Is(err, want) || st.ID != "" {
		t.Errorf("got %+v, %v; want the error of who names it", st, err)
	}
}
