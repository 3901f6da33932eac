package local

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// A wireRepo describes the repository. What nothing here keeps count of, such
// as stars, is none.
type wireRepo struct {
	ID          int64     `json:"id"`
	NodeID      string    `json:"node_id"`
	Name        string    `json:"name"`
	FullName    string    `json:"full_name"`
	Description *string   `json:"description"`
	Private     bool      `json:"private"`
	Visibility  string    `json:"visibility"`
	Fork        bool      `json:"fork"`
	Template    bool      `json:"is_template"`
	Archived    bool      `json:"archived"`
	Disabled    bool      `json:"disabled"`
	SignOff     bool      `json:"web_commit_signoff_required"`
	Owner       *wireUser `json:"owner"`
	Default     string    `json:"default_branch"`
	Created     *string   `json:"created_at"`
	Updated     *string   `json:"updated_at"`
	Pushed      *string   `json:"pushed_at"`
	Size        int       `json:"size"`
	Language    *string   `json:"language"`
	License     *string   `json:"license"`
	Homepage    *string   `json:"homepage"`
	Mirror      *string   `json:"mirror_url"`
	Topics      []string  `json:"topics"`
	Properties  struct{}  `json:"custom_properties"`
	Issues      int       `json:"open_issues"`
	IssueCount  int       `json:"open_issues_count"`
	Forks       int       `json:"forks"`
	ForkCount   int       `json:"forks_count"`
	Watchers    int       `json:"watchers"`
	WatchCount  int       `json:"watchers_count"`
	Stars       int       `json:"stargazers_count"`
	HasIssues   bool      `json:"has_issues"`
	HasProjects bool      `json:"has_projects"`
	HasWiki     bool      `json:"has_wiki"`
	HasPages    bool      `json:"has_pages"`
	HasTalks    bool      `json:"has_discussions"`
	Downloads   bool      `json:"has_downloads"`
	HTML        string    `json:"html_url"`
	SVN         string    `json:"svn_url"`
	Clone       string    `json:"clone_url"`
	Git         string    `json:"git_url"`
	SSH         string    `json:"ssh_url"`
	Rights      *rights   `json:"permissions,omitempty"`
	Network     *int      `json:"network_count,omitempty"`
	Subscribers *int      `json:"subscribers_count,omitempty"`
	repoLinks
}

type rights struct {
	Admin    bool `json:"admin"`
	Maintain bool `json:"maintain"`
	Push     bool `json:"push"`
	Triage   bool `json:"triage"`
	Pull     bool `json:"pull"`
}

func (s *Server) wireRepo(l links) *wireRepo {
	id := int64(crc32.ChecksumIEEE([]byte(s.Repository)))
	w := &wireRepo{
		ID: id, NodeID: fmt.Sprintf("R_%d", id), Name: s.repo.Name, FullName: s.Repository, Private: true, Visibility: "private",
		Owner: l.user(s.repo.Owner), Default: s.branch, Topics: []string{}, Issues: l.open, IssueCount: l.open, HasIssues: true,
		Created: stamp(s.since), Updated: stamp(l.pushed), Pushed: stamp(l.pushed),
		HTML: l.html(""), SVN: l.html(""), Clone: l.html(".git"),
	}
	_, host, _ := strings.Cut(l.base, "://")
	w.Git, w.SSH = "git://"+host+"/"+l.repo+".git", "git@"+host+":"+l.repo+".git"
	addresses(&w.repoLinks, l.api(""))
	return w
}

// fullRepo is the repository as its own page, and what the caller may do there.
func (s *Server) fullRepo(l links, login string) *wireRepo {
	w, none, write := s.wireRepo(l), 0, s.mayWrite(login)
	admin := s.permission(login) == "admin"
	w.Rights = &rights{Admin: admin, Maintain: admin, Push: write, Triage: write, Pull: true}
	w.Network, w.Subscribers = &none, &none
	return w
}
