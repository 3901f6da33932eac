package candidate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"github.com/refit-bench/refit/internal/workspace"
)

// A claim is what a claim ref points at: the message of the commit names the
// candidate, a file of its tree holds the receipts of the steps that only
// looked. With both a candidate outlives the store of the machine it began on.
type claim struct {
	Candidates []Candidate `json:"candidates"`
	Holder     string      `json:"holder,omitempty"`   // the process that RunID names, so that another can see whether it lives
	Receipts   *carriage   `json:"receipts,omitempty"` // those of a wave have none until the candidate is proposed
	RunID      string      `json:"run-id"`

	ref, commit string
}

// carriage names the file with the receipts and binds its bytes to the message.
type carriage struct {
	Version int    `json:"version"`
	SHA256  string `json:"sha256"`
}

// carried is the content of that file.
type carried struct {
	Version   int       `json:"version"`
	Candidate string    `json:"candidate"`
	Receipts  []Receipt `json:"receipts"`
}

const (
	claimFile    = "refit-claim.json" // in the tree of the claim commit, which is never merged
	claimVersion = 1
	maxClaimFile = 8 << 20
)

// carriedSteps are the steps whose receipts a claim carries. Doctor's is left
// out: it describes one machine and means nothing to another session.
var carriedSteps = []string{"resolve", "inspect", "rehearse"}

// claimText is the claim of this candidate, made by a holder: message and file.
func (w *work) claimText(holder string) (string, map[string][]byte, error) {
	file := carried{Version: claimVersion, Candidate: w.c.ID}
	for _, step := range carriedSteps {
		r, ok := w.receipts[step]
		if !ok {
			return "", nil, fmt.Errorf("no receipt of step %s", step)
		}
		r.At = r.At.UTC()
		file.Receipts = append(file.Receipts, r)
	}
	data, err := workspace.Canonical(file)
	if err != nil {
		return "", nil, err
	}
	if len(data) > maxClaimFile {
		return "", nil, fmt.Errorf("receipts of %d bytes, at most %d fit", len(data), maxClaimFile)
	}
	message, err := workspace.Canonical(claim{
		Candidates: []Candidate{w.c}, RunID: w.c.Parent, Holder: holder, Receipts: &carriage{claimVersion, sum(data)},
	})
	return string(message), map[string][]byte{claimFile: data}, err
}

// Claimed returns the candidate that holds the claim of a family. A claim that
// cannot be read blocks its family: the error says so.
func (s *Shepherd) Claimed(ctx context.Context, family string) (Candidate, bool, error) {
	p, ok, err := s.claimOf(ctx, family)
	if err != nil || !ok {
		return Candidate{}, false, err
	}
	return p.Candidates[0], true, nil
}

// claimOf reads a family's claim, and of its candidates the family's.
func (s *Shepherd) claimOf(ctx context.Context, family string) (claim, bool, error) {
	p := claim{ref: ClaimRef(s.prefix(), family)}
	sha, ok, err := s.Forge.Ref(ctx, p.ref)
	if err != nil || !ok {
		return claim{}, false, err
	}
	p, err = s.readClaim(ctx, p.ref, sha)
	return p, err == nil, err
}

// readClaim reads the claim that a ref points at, and of its candidates the one
// whose family the ref is named after.
func (s *Shepherd) readClaim(ctx context.Context, ref, sha string) (claim, error) {
	p := claim{ref: ref, commit: sha}
	message, err := s.Forge.Message(ctx, sha)
	if err != nil {
		return p, fmt.Errorf("claim %s: %w", ref, err)
	}
	if err := json.Unmarshal([]byte(message), &p); err != nil {
		return p, blocksFamily(fmt.Sprintf("claim %s is unreadable and blocks the family: %v", ref, err))
	}
	p.Candidates = slices.DeleteFunc(p.Candidates, func(c Candidate) bool { return ClaimRef(s.prefix(), c.Family) != ref })
	if len(p.Candidates) == 0 {
		return p, blocksFamily(fmt.Sprintf("claim %s names other families and blocks this one", ref))
	}
	if c := p.Candidates[0]; c.ID != c.identity() {
		return p, blocksFamily(fmt.Sprintf("claim %s blocks the family: it names candidate %q, but its family and images are those of %s", ref, c.ID, c.identity()))
	}
	return p, nil
}

// blocksFamily says that a claim cannot be believed: nobody moves its family
// until a person has looked at it.
type blocksFamily string

func (b blocksFamily) Error() string { return string(b) }

// carriedBy reads and checks the receipts of a claim. Nothing of a file that is
// not exactly what this program writes is believed.
func (s *Shepherd) carriedBy(ctx context.Context, p claim) ([]Receipt, error) {
	if p.Receipts == nil {
		return nil, nil
	}
	if p.Receipts.Version != claimVersion {
		return nil, fmt.Errorf("its receipts are of version %d, this refit reads %d", p.Receipts.Version, claimVersion)
	}
	data, err := s.claimBytes(ctx, p.commit)
	if err != nil {
		return nil, err
	}
	if got := sum(data); got != p.Receipts.SHA256 {
		return nil, fmt.Errorf("its receipts are tampered: %s has SHA-256 %s, the claim says %s", claimFile, got, p.Receipts.SHA256)
	}
	var file carried
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("its receipts are unreadable: %w", err)
	}
	if again, err := workspace.Canonical(file); err != nil || !bytes.Equal(again, data) {
		return nil, fmt.Errorf("its receipts are not as they were written")
	}
	return file.Receipts, file.check(p.Candidates[0].ID)
}

// check holds a file against the candidate it should be about.
func (f carried) check(id string) error {
	var steps []string
	for _, r := range f.Receipts {
		if r.Candidate != id || r.By == "" || r.Subject == "" || r.At.IsZero() {
			return fmt.Errorf("its receipt of %s is not one of candidate %s", r.Step, id)
		}
		steps = append(steps, r.Step)
	}
	switch {
	case f.Version != claimVersion || f.Candidate != id:
		return fmt.Errorf("its receipts are of candidate %s, not of %s", f.Candidate, id)
	case !slices.Equal(steps, carriedSteps):
		return fmt.Errorf("its receipts are of the steps %v, want %v", steps, carriedSteps)
	}
	return nil
}

func (s *Shepherd) claimBytes(ctx context.Context, commit string) ([]byte, error) {
	tree, err := s.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(tree, claimFile)
	if err != nil {
		return nil, fmt.Errorf("its receipts are gone: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxClaimFile {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", claimFile, maxClaimFile)
	}
	return fs.ReadFile(tree, claimFile)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
