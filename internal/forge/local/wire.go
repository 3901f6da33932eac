package local

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
)

// links makes the addresses in answers.
type links struct {
	base string // scheme and host
	repo string // owner/name
}

// linksFor takes the request's host where none is configured; req may be nil.
func (s *Server) linksFor(req *http.Request) links {
	base := strings.TrimSuffix(s.BaseURL, "/")
	if base == "" && req != nil {
		base = "http://" + req.Host
	}
	return links{base: base, repo: s.Repository}
}

func (l links) api(format string, args ...any) string {
	return l.base + apiRoot + "/repos/" + l.repo + fmt.Sprintf(format, args...)
}

func (l links) html(format string, args ...any) string {
	return l.base + "/" + l.repo + fmt.Sprintf(format, args...)
}

type wireUser struct {
	Login  string `json:"login"`
	ID     int64  `json:"id"`
	NodeID string `json:"node_id"`
	Type   string `json:"type"`
	URL    string `json:"html_url"`
}

// user ids follow from the login, for accounts are configuration here.
func (l links) user(login string) *wireUser {
	if login == "" {
		return nil
	}
	id := int64(crc32.ChecksumIEEE([]byte(login)))
	return &wireUser{Login: login, ID: id, NodeID: fmt.Sprintf("U_%d", id), Type: "User", URL: l.base + "/" + login}
}

type wireRepo struct {
	ID       int64     `json:"id"`
	NodeID   string    `json:"node_id"`
	Name     string    `json:"name"`
	FullName string    `json:"full_name"`
	Private  bool      `json:"private"`
	Fork     bool      `json:"fork"`
	Owner    *wireUser `json:"owner"`
	HTML     string    `json:"html_url"`
	URL      string    `json:"url"`
	Default  string    `json:"default_branch"`
	Rights   *rights   `json:"permissions,omitempty"`
}

type rights struct {
	Admin bool `json:"admin"`
	Push  bool `json:"push"`
	Pull  bool `json:"pull"`
}

func (s *Server) wireRepo(l links) *wireRepo {
	id := int64(crc32.ChecksumIEEE([]byte(s.Repository)))
	return &wireRepo{
		ID: id, NodeID: fmt.Sprintf("R_%d", id), Name: s.repo.Name, FullName: s.Repository, Private: true,
		Owner: l.user(s.repo.Owner), HTML: l.html(""), URL: l.api(""), Default: s.branch,
	}
}

type wireLabel struct {
	ID          int64  `json:"id"`
	NodeID      string `json:"node_id"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Description string `json:"description"`
	URL         string `json:"url"`
}

type wirePull struct {
	ID        int64       `json:"id"`
	NodeID    string      `json:"node_id"`
	Number    int         `json:"number"`
	State     string      `json:"state"`
	Locked    bool        `json:"locked"`
	Title     string      `json:"title"`
	Body      string      `json:"body"`
	Draft     bool        `json:"draft"`
	User      *wireUser   `json:"user"`
	Labels    []wireLabel `json:"labels"`
	Head      wireBranch  `json:"head"`
	Base      wireBranch  `json:"base"`
	Merged    bool        `json:"merged"`
	Mergeable *bool       `json:"mergeable"`
	MergedBy  *wireUser   `json:"merged_by"`
	MergeSHA  *string     `json:"merge_commit_sha"`
	Created   *string     `json:"created_at"`
	Updated   *string     `json:"updated_at"`
	Closed    *string     `json:"closed_at"`
	MergedAt  *string     `json:"merged_at"`
	URL       string      `json:"url"`
	HTML      string      `json:"html_url"`
	IssueURL  string      `json:"issue_url"`
}

type wireBranch struct {
	Label string    `json:"label"`
	Ref   string    `json:"ref"`
	SHA   string    `json:"sha"`
	User  *wireUser `json:"user"`
	Repo  *wireRepo `json:"repo"`
}

func (s *Server) wirePull(l links, p pull) wirePull {
	w := wirePull{
		ID: p.id, NodeID: p.nodeID, Number: p.number, State: p.state, Title: p.title, Body: p.body, Draft: p.draft,
		User: l.user(p.author), Labels: []wireLabel{}, Merged: p.merged != 0, MergedBy: l.user(p.mergedBy),
		Created: stamp(p.created), Updated: stamp(p.updated), Closed: stamp(p.closed), MergedAt: stamp(p.merged),
		URL: l.api("/pulls/%d", p.number), HTML: l.html("/pull/%d", p.number), IssueURL: l.api("/issues/%d", p.number),
		Head: s.wireBranch(l, p.headRef, p.headSHA), Base: s.wireBranch(l, p.baseRef, p.baseSHA),
	}
	if p.mergeSHA != "" {
		w.MergeSHA = &p.mergeSHA
	}
	for _, x := range p.labels {
		w.Labels = append(w.Labels, l.label(x))
	}
	return w
}

func (s *Server) wireBranch(l links, ref, sha string) wireBranch {
	return wireBranch{Label: s.repo.Owner + ":" + ref, Ref: ref, SHA: sha, User: l.user(s.repo.Owner), Repo: s.wireRepo(l)}
}

type wireCommit struct {
	SHA       string     `json:"sha"`
	NodeID    string     `json:"node_id"`
	URL       string     `json:"url"`
	HTML      string     `json:"html_url"`
	Author    person     `json:"author"`
	Committer person     `json:"committer"`
	Message   string     `json:"message"`
	Tree      wireLink   `json:"tree"`
	Parents   []wireLink `json:"parents"`
}

type wireLink struct {
	SHA string `json:"sha"`
	URL string `json:"url"`
}

func (l links) commit(c commit) wireCommit {
	w := wireCommit{
		SHA: c.sha, NodeID: "C_" + c.sha, URL: l.api("/git/commits/%s", c.sha), HTML: l.html("/commit/%s", c.sha),
		Author: c.author, Committer: c.committer, Message: c.message,
		Tree: wireLink{c.tree, l.api("/git/trees/%s", c.tree)}, Parents: []wireLink{},
	}
	for _, p := range c.parents {
		w.Parents = append(w.Parents, wireLink{p, l.api("/git/commits/%s", p)})
	}
	return w
}
