package candidate

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
)

// BlockerCode names what keeps every family from moving, and not one alone.
type BlockerCode string

// The blockers.
const (
	BlockedCredential BlockerCode = "credential" // the login, its rights, or what it may see
	BlockedRepository BlockerCode = "repository" // the label or the workflows that every upgrade needs
	BlockedMachine    BlockerCode = "machine"    // this machine's clock or disk
	BlockedForge      BlockerCode = "forge"      // it does not answer, or its rate limit is reached
	BlockedRegistry   BlockerCode = "registry"   // it does not answer
	BlockedFeed       BlockerCode = "feed"       // the published results cannot be read
	BlockedCapacity   BlockerCode = "capacity"   // nothing has room
)

// Blocker is an error that says nothing about the family it was met with.
type Blocker struct {
	Code BlockerCode
	Err  error
}

func (b *Blocker) Error() string { return b.Err.Error() }

// Unwrap returns what was met.
func (b *Blocker) Unwrap() error { return b.Err }

// blockedBy marks an error as one that every family would meet, nil stays nil.
func blockedBy(code BlockerCode, err error) error {
	if err == nil {
		return nil
	}
	return &Blocker{code, err}
}

// BlockerOf is the blocker behind an error, "" when the error is the family's
// own or the caller's wish to stop.
func BlockerOf(err error) BlockerCode {
	var b *Blocker
	var f *forge.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &b):
		return b.Code
	case !errors.As(err, &f):
		return ""
	case forge.Denied(err), f.Status == http.StatusUnauthorized:
		return BlockedCredential
	case forge.Unanswered(err), f.Status == http.StatusTooManyRequests, f.Status == http.StatusForbidden:
		return BlockedForge
	}
	return ""
}

// checkCodes say which blocker a failed check of doctor is.
var checkCodes = map[string]BlockerCode{
	"login": BlockedCredential, "permission": BlockedCredential, "repository": BlockedCredential,
	"dispatch": BlockedCredential, "label": BlockedRepository, "workflows": BlockedRepository,
	"results": BlockedFeed, "clock": BlockedMachine, "disk": BlockedMachine,
}

// doctorBlocker is the blocker that doctor has found: its first failed check.
func doctorBlocker(checks []gate.Verdict) error {
	v := gate.All(checks)
	if v.Answer != gate.Fail {
		return nil
	}
	err := errors.New(v.Reason)
	i := slices.IndexFunc(checks, func(c gate.Verdict) bool { return c.Answer == gate.Fail })
	if i < 0 || checkCodes[checks[i].Gate] == "" {
		return err
	}
	return blockedBy(checkCodes[checks[i].Gate], err)
}
