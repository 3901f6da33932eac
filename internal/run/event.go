package run

import (
	"encoding/json"
	"fmt"
	"strings"
)

// event is the part of a GitHub event payload that decides about a sweep.
type event struct {
	// push
	Ref     string `json:"ref"` // also of a dispatch
	Before  string `json:"before"`
	After   string `json:"after"`
	Deleted bool   `json:"deleted"`
	// pull_request
	Action string `json:"action"`
	Number int    `json:"number"`
	Label  *label `json:"label"`
	Pull   *pull  `json:"pull_request"`
	// workflow_dispatch
	Inputs map[string]string `json:"inputs"`

	Repository struct {
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
}

type label struct {
	Name string `json:"name"`
}

type pull struct {
	State  string  `json:"state"`
	Labels []label `json:"labels"`
	Head   side    `json:"head"`
	Base   side    `json:"base"`
}

type side struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

func parseEvent(src []byte) (event, error) {
	var e event
	if err := json.Unmarshal(src, &e); err != nil {
		return e, fmt.Errorf("event: %w", err)
	}
	return e, nil
}

// kind names the event by what its payload holds.
func (e event) kind() string {
	switch {
	case e.Pull != nil:
		return "pull_request"
	case e.After != "":
		return "push"
	}
	return "workflow_dispatch"
}

// branch is where the event's commit lives.
func (e event) branch() string {
	if e.Pull != nil {
		return e.Pull.Head.Ref
	}
	return strings.TrimPrefix(e.Ref, "refs/heads/")
}

func (e event) labels() []string {
	var names []string
	for _, l := range e.Pull.Labels {
		names = append(names, l.Name)
	}
	return names
}

// fork says that the head is not in this repository, or gone.
func (p pull) fork() bool {
	return p.Head.Repo == nil || p.Base.Repo == nil || !strings.EqualFold(p.Head.Repo.FullName, p.Base.Repo.FullName)
}
