package local

import (
	"context"
	"database/sql"
	"fmt"
)

// An issue is a text that is no pull request. It stays open: closing one is
// nothing that is done through this forge.
type issue struct {
	number                      int
	id                          int64
	nodeID, title, body, author string
	created, updated            int64 // seconds
}

const issueColumns = `number, id, node_id, title, body, author, created, updated`

func scanIssue(r *sql.Rows) (issue, error) {
	var x issue
	return x, r.Scan(&x.number, &x.id, &x.nodeID, &x.title, &x.body, &x.author, &x.created, &x.updated)
}

type wireIssue struct {
	ID          int64       `json:"id"`
	NodeID      string      `json:"node_id"`
	Number      int         `json:"number"`
	State       string      `json:"state"`
	Locked      bool        `json:"locked"`
	Title       string      `json:"title"`
	Body        string      `json:"body"`
	User        *wireUser   `json:"user"`
	Association string      `json:"author_association"`
	Assignee    *wireUser   `json:"assignee"`
	Assignees   []wireUser  `json:"assignees"`
	Milestone   *string     `json:"milestone"`
	Labels      []wireLabel `json:"labels"`
	Comments    int         `json:"comments"`
	Created     *string     `json:"created_at"`
	Updated     *string     `json:"updated_at"`
	Closed      *string     `json:"closed_at"`
	HTML        string      `json:"html_url"`
	Repository  string      `json:"repository_url"`
	issueLinks
}

// issueLinks are an issue's addresses below its own.
type issueLinks struct {
	URL         string `json:"url" at:""`
	LabelsURL   string `json:"labels_url" at:"/labels{/name}"`
	CommentsURL string `json:"comments_url" at:"/comments"`
	EventsURL   string `json:"events_url" at:"/events"`
}

func (s *Server) wireIssue(l links, x issue) wireIssue {
	w := wireIssue{
		ID: x.id, NodeID: x.nodeID, Number: x.number, State: "open", Title: x.title, Body: x.body,
		User: l.user(x.author), Association: s.association(x.author), Assignees: []wireUser{}, Labels: []wireLabel{},
		Created: stamp(x.created), Updated: stamp(x.updated), HTML: l.html("/issues/%d", x.number), Repository: l.api(""),
	}
	addresses(&w.issueLinks, l.api("/issues/%d", x.number))
	return w
}

// issues lists issues, newest first. Pull requests, which GitHub lists here as
// well, are not among them.
func (s *Server) issues(c call) (answer, error) {
	q := c.URL.Query()
	where, args := "1", []any{}
	switch state := q.Get("state"); state {
	case "", "open", "all":
	case "closed":
		where = "0"
	default:
		return answer{}, invalid("Issue", "state", "invalid", "")
	}
	if creator := q.Get("creator"); creator != "" {
		where, args = where+` AND lower(author) = lower(?)`, append(args, creator)
	}
	found, err := rows(c.Context(), s.db, scanIssue, `SELECT `+issueColumns+` FROM issue WHERE `+where+` ORDER BY number DESC`, args...)
	if err != nil {
		return answer{}, err
	}
	return listing(c, found, func(x issue) wireIssue { return s.wireIssue(c.links, x) })
}

func (s *Server) openIssue(c call) (answer, error) {
	var in struct{ Title, Body string }
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	if err := checkText(in.Title, in.Body); err != nil {
		return answer{}, err
	}
	ctx := c.Context()
	x := issue{title: in.Title, body: in.Body, author: c.login, created: s.now(), updated: s.now()}
	err := s.tx(ctx, func(tx *sql.Tx) (err error) {
		if x.number, err = nextNumber(ctx, tx); err != nil {
			return err
		}
		if x.id, err = s.nextID(ctx, tx); err != nil {
			return err
		}
		x.nodeID = fmt.Sprintf("I_%d", x.id)
		_, err = tx.ExecContext(ctx, `INSERT INTO issue (`+issueColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			x.number, x.id, x.nodeID, x.title, x.body, x.author, x.created, x.updated)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return created(s.wireIssue(c.links, x))
}

// nextNumber is the next one of those that issues and pull requests share.
func nextNumber(ctx context.Context, tx *sql.Tx) (n int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1 FROM (SELECT number FROM pull UNION ALL SELECT number FROM issue)`).Scan(&n)
	return n, err
}
