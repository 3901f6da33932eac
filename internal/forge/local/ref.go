package local

import (
	"net/http"
	"regexp"
	"strings"
)

type wireRef struct {
	Ref    string     `json:"ref"`
	NodeID string     `json:"node_id"`
	URL    string     `json:"url"`
	Object wireObject `json:"object"`
}

type wireObject struct {
	Type string `json:"type"`
	SHA  string `json:"sha"`
	URL  string `json:"url"`
}

func (l links) ref(r ref) wireRef {
	return wireRef{
		Ref: r.name, NodeID: "REF_" + r.name, URL: l.api("/git/%s", escaped(r.name)),
		Object: wireObject{Type: r.kind, SHA: r.sha, URL: l.api("/git/%ss/%s", r.kind, r.sha)},
	}
}

func (s *Server) ref(c call) (answer, error) {
	r, err := s.refNamed(c.Context(), "refs/"+c.PathValue("ref"))
	if err != nil {
		return answer{}, err
	}
	return ok(c.links.ref(r))
}

func (s *Server) matchingRefs(c call) (answer, error) {
	all, err := s.refs(c.Context())
	if err != nil {
		return answer{}, err
	}
	found := []wireRef{}
	for _, r := range all {
		if strings.HasPrefix(r.name, "refs/"+c.PathValue("ref")) {
			found = append(found, c.links.ref(r))
		}
	}
	return ok(found)
}

// refForm is narrower than git's own rule, which is asked as well.
var refForm = regexp.MustCompile(`^refs/[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._+@-]*)+$`)

var (
	errRefExists  = refuse(http.StatusUnprocessableEntity, "Reference already exists")
	errNoRef      = refuse(http.StatusUnprocessableEntity, "Reference does not exist")
	errNoObject   = refuse(http.StatusUnprocessableEntity, "Object does not exist")
	errNotForward = refuse(http.StatusUnprocessableEntity, "Update is not a fast forward")
)

// createRef makes a reference if there is none of that name: git compares and
// swaps, so that of two callers one is refused.
func (s *Server) createRef(c call) (answer, error) {
	var in struct{ Ref, SHA string }
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	ctx := c.Context()
	if !refForm.MatchString(in.Ref) {
		return answer{}, refuse(422, "Reference name is invalid")
	}
	if _, err := s.Git.Git(ctx, "check-ref-format", in.Ref); err != nil {
		return answer{}, refuse(422, "Reference name is invalid")
	}
	if _, err := s.refNamed(ctx, in.Ref); err == nil {
		return answer{}, errRefExists
	}
	kind := s.kind(ctx, in.SHA)
	branch, isBranch := strings.CutPrefix(in.Ref, "refs/heads/")
	if kind == "" || isBranch && kind != "commit" {
		return answer{}, errNoObject
	}
	if _, err := s.Git.Git(ctx, "update-ref", in.Ref, in.SHA, zeros); err != nil {
		if _, look := s.refNamed(ctx, in.Ref); look == nil {
			return answer{}, errRefExists
		}
		return answer{}, refuse(422, "Reference cannot be created")
	}
	if isBranch {
		if err := s.moved(ctx, c.actor(), branch, in.SHA); err != nil {
			return answer{}, err
		}
	}
	return created(c.links.ref(ref{name: in.Ref, sha: in.SHA, kind: kind}))
}

func (s *Server) updateRef(c call) (answer, error) {
	var in struct {
		SHA   string
		Force bool
	}
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	ctx, name := c.Context(), "refs/"+c.PathValue("ref")
	at, err := s.refNamed(ctx, name)
	if err != nil {
		return answer{}, errNoRef
	}
	if s.kind(ctx, in.SHA) != "commit" {
		return answer{}, errNoObject
	}
	if !in.Force && !s.ancestor(ctx, at.sha, in.SHA) {
		return answer{}, errNotForward
	}
	if _, err := s.Git.Git(ctx, "update-ref", name, in.SHA, at.sha); err != nil {
		return answer{}, errNotForward
	}
	if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		if err := s.moved(ctx, c.actor(), branch, in.SHA); err != nil {
			return answer{}, err
		}
	}
	return ok(c.links.ref(ref{name: name, sha: in.SHA, kind: "commit"}))
}

func (s *Server) deleteRef(c call) (answer, error) {
	ctx, name := c.Context(), "refs/"+c.PathValue("ref")
	at, err := s.refNamed(ctx, name)
	if err != nil {
		return answer{}, errNoRef
	}
	branch, isBranch := strings.CutPrefix(name, "refs/heads/")
	if isBranch && branch == s.branch {
		return answer{}, refuse(422, "Cannot delete the default branch")
	}
	if _, err := s.Git.Git(ctx, "update-ref", "-d", name, at.sha); err != nil {
		return answer{}, err
	}
	if isBranch {
		if err := s.moved(ctx, c.actor(), branch, zeros); err != nil {
			return answer{}, err
		}
	}
	return answer{status: http.StatusNoContent}, nil
}
