package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
)

// failing is a forge whose answers to one look after the other are these; after
// them every look is fine. Its clock goes on by a minute a look.
type failing struct {
	errs []error
	at   time.Time
	told []string
}

func (f *failing) outage() *outage {
	return &outage{
		advance: func(context.Context, candidate.Candidate) (candidate.Status, error) {
			f.at = f.at.Add(time.Minute)
			if len(f.errs) == 0 {
				return candidate.Status{}, nil
			}
			err := f.errs[0]
			f.errs = f.errs[1:]
			return candidate.Status{}, err
		},
		now:  func() time.Time { return f.at },
		tell: func(e candidate.Event) { f.told = append(f.told, e.Step+" "+e.Mark) },
	}
}

func broken(status int) error {
	return fmt.Errorf("candidate x: sweep: %w", &forge.Error{Op: "forge: pull 1", Status: status, Message: "broken"})
}

// Whoever waits sees an outage through, and is told of it once.
func TestAnOutageIsWaitedFor(t *testing.T) {
	f := &failing{errs: []error{nil, broken(http.StatusBadGateway), broken(http.StatusBadGateway), broken(http.StatusTooManyRequests), broken(0)}}
	o := f.outage()
	for range 2 {
		if _, err := o.next(t.Context(), candidate.Candidate{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.errs) != 0 || len(f.told) != 3 {
		t.Errorf("%d answers left, told %q; want all seen, and one line for each kind", len(f.errs), f.told)
	}
}

// A forge that has never answered, a refusal, and an outage without an end are
// told as they are.
func TestWhatDoesNotPassIsTold(t *testing.T) {
	for name, errs := range map[string][]error{
		"never-answered": {broken(http.StatusBadGateway)},
		"refused":        {nil, broken(http.StatusUnprocessableEntity)},
		"not-found":      {nil, broken(http.StatusNotFound)},
		"not-the-forge":  {nil, errors.New("questions.jsonl: no such file")},
	} {
		f := &failing{errs: errs}
		o := f.outage()
		var err error
		for range errs {
			_, err = o.next(t.Context(), candidate.Candidate{})
		}
		if err == nil || len(f.told) != 0 {
			t.Errorf("%s: got %v, told %q; want the error at once", name, err, f.told)
		}
	}
	f := &failing{errs: []error{nil}}
	for range 100 {
		f.errs = append(f.errs, broken(http.StatusBadGateway))
	}
	o := f.outage()
	_, err := o.next(t.Context(), candidate.Candidate{})
	if err == nil {
		_, err = o.next(t.Context(), candidate.Candidate{})
	}
	if got := 100 - len(f.errs); err == nil || got != 71 {
		t.Errorf("without an end: %v after %d looks, want the error after 71: one a minute, for %v", err, got, longestOutage)
	}
}
