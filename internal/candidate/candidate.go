// Package candidate is the life of an upgrade: one recipe family is moved to a
// newer engine image, proved, and the repository is left clean whatever
// happens. Lifecycle lists the steps in the order they are lived; Advance walks
// them from the top, as often as it is called. Where a candidate stands is
// computed from its receipts and from the forge, never stored.
//
// The room knows forges and records. It does not know SQL, HTTP, YAML or
// statistics: what it needs from them comes in through the fields of Shepherd.
package candidate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// Candidate is one move of one family from OldImage to NewImage, decided while
// the main branch was at Base.
type Candidate struct {
	ID       string `json:"id"`     // 16 hex "-" 16 hex, see ID
	Family   string `json:"family"` // configs/<file>:<key>
	Base     string `json:"base"`   // 40 hex
	OldImage string `json:"old-image"`
	NewImage string `json:"new-image"`
	Release  string `json:"release,omitempty"` // upstream release, when one is known
	Parent   string `json:"parent"`            // who made the claim: a forge run id, or the id of a process
	Attempt  int    `json:"attempt,omitempty"` // 0 is the first; another follows an end that may be retried
}

// ID is the candidate's identity: the family, and the pair of the old image
// and the upstream release (the new image where no release is known).
// Source: lifecycle specification, section 2.
func ID(family, oldImage, target string) string {
	return short(family) + "-" + short([]string{oldImage, target})
}

// identity is the ID that the candidate must have.
func (c Candidate) identity() string {
	return ID(c.Family, c.OldImage, cmp.Or(c.Release, c.NewImage))
}

// Key is the family's config key: what stands behind the file name.
func (c Candidate) Key() string {
	_, key, _ := strings.Cut(c.Family, ":")
	return key
}

// File is the master file that holds the family.
func (c Candidate) File() string {
	file, _, _ := strings.Cut(c.Family, ":")
	return file
}

// Branch is the candidate's branch, without refs/heads/.
func (c Candidate) Branch(prefix string) string { return prefix + "/auto-" + c.ID }

// ClaimRef makes the family's selection atomic: one family, one owner.
func ClaimRef(prefix, family string) string { return prefix + "/claim-" + short(family) }

// LeaseRef makes writing exclusive: one candidate, one writer at a time.
func (c Candidate) LeaseRef(prefix string) string { return prefix + "/lease-" + c.ID }

// TestName marks the candidate's targeted runs. Those of another attempt have
// another name: its measurements are not this one's.
func (c Candidate) TestName(prefix string) string {
	name := fmt.Sprintf("%s-%s-%s", prefix, c.Parent, c.ID)
	if c.Attempt > 0 {
		name += fmt.Sprintf("-%d", c.Attempt)
	}
	return name
}

func short(v any) string { return workspace.Identity(v)[:16] }
