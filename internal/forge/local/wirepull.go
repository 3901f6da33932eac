package local

import "strconv"

// A wirePull is a pull request as lists have it.
type wirePull struct {
	ID           int64       `json:"id"`
	NodeID       string      `json:"node_id"`
	Number       int         `json:"number"`
	State        string      `json:"state"`
	Locked       bool        `json:"locked"`
	LockReason   *string     `json:"active_lock_reason"`
	Title        string      `json:"title"`
	Body         string      `json:"body"`
	Draft        bool        `json:"draft"`
	User         *wireUser   `json:"user"`
	Association  string      `json:"author_association"`
	Assignee     *wireUser   `json:"assignee"`
	Assignees    []wireUser  `json:"assignees"`
	Reviewers    []wireUser  `json:"requested_reviewers"`
	Teams        []string    `json:"requested_teams"`
	Milestone    *string     `json:"milestone"`
	AutoMerge    *string     `json:"auto_merge"`
	Labels       []wireLabel `json:"labels"`
	Head         wireBranch  `json:"head"`
	Base         wireBranch  `json:"base"`
	MergeSHA     *string     `json:"merge_commit_sha"`
	Created      *string     `json:"created_at"`
	Updated      *string     `json:"updated_at"`
	Closed       *string     `json:"closed_at"`
	MergedAt     *string     `json:"merged_at"`
	URL          string      `json:"url"`
	HTML         string      `json:"html_url"`
	Diff         string      `json:"diff_url"`
	Patch        string      `json:"patch_url"`
	IssueURL     string      `json:"issue_url"`
	Comments     string      `json:"comments_url"`
	Commits      string      `json:"commits_url"`
	Statuses     string      `json:"statuses_url"`
	Remarks      string      `json:"review_comments_url"`
	RemarkByID   string      `json:"review_comment_url"`
	RelatedLinks pullLinks   `json:"_links"`
}

type wireBranch struct {
	Label string    `json:"label"`
	Ref   string    `json:"ref"`
	SHA   string    `json:"sha"`
	User  *wireUser `json:"user"`
	Repo  *wireRepo `json:"repo"`
}

type pullLinks struct {
	Self       href `json:"self"`
	HTML       href `json:"html"`
	Issue      href `json:"issue"`
	Comments   href `json:"comments"`
	Commits    href `json:"commits"`
	Statuses   href `json:"statuses"`
	Remarks    href `json:"review_comments"`
	RemarkByID href `json:"review_comment"`
}

type href struct {
	To string `json:"href"`
}

func (s *Server) wirePull(l links, p pull) wirePull {
	w := wirePull{
		ID: p.id, NodeID: p.nodeID, Number: p.number, State: p.state, Title: p.title, Body: p.body, Draft: p.draft,
		User: l.user(p.author), Association: s.association(p.author), Labels: l.labels(p.labels),
		Assignees: []wireUser{}, Reviewers: []wireUser{}, Teams: []string{},
		Created: stamp(p.created), Updated: stamp(p.updated), Closed: stamp(p.closed), MergedAt: stamp(p.merged),
		Head: s.wireBranch(l, p.headRef, p.headSHA), Base: s.wireBranch(l, p.baseRef, p.baseSHA),
	}
	if p.mergeSHA != "" {
		w.MergeSHA = &p.mergeSHA
	}
	n := strconv.Itoa(p.number)
	w.URL, w.HTML, w.IssueURL = l.api("/pulls/%s", n), l.html("/pull/%s", n), l.api("/issues/%s", n)
	w.Diff, w.Patch, w.Commits, w.Comments = w.HTML+".diff", w.HTML+".patch", w.URL+"/commits", w.IssueURL+"/comments"
	w.Remarks, w.RemarkByID, w.Statuses = w.URL+"/comments", l.api("/pulls/comments{/number}"), l.api("/statuses/%s", p.headSHA)
	w.RelatedLinks = pullLinks{
		Self: href{w.URL}, HTML: href{w.HTML}, Issue: href{w.IssueURL}, Comments: href{w.Comments}, Commits: href{w.Commits},
		Statuses: href{w.Statuses}, Remarks: href{w.Remarks}, RemarkByID: href{w.RemarkByID},
	}
	return w
}

func (s *Server) wireBranch(l links, ref, sha string) wireBranch {
	return wireBranch{Label: s.repo.Owner + ":" + ref, Ref: ref, SHA: sha, User: l.user(s.repo.Owner), Repo: s.wireRepo(l)}
}

// association is GitHub's word for what somebody is to the repository.
func (s *Server) association(login string) string {
	switch {
	case login == s.repo.Owner:
		return "OWNER"
	case s.mayWrite(login):
		return "COLLABORATOR"
	}
	return "NONE"
}
