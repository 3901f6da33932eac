package local

import (
	"database/sql"
	"fmt"
	"strings"
)

type comment struct {
	id                           int64
	pull                         int
	nodeID, author, body, editor string
	created, updated, edited     int64
}

const commentColumns = `id, node_id, pull, author, body, created, updated, editor, edited`

func scanComment(r *sql.Rows) (comment, error) {
	var x comment
	return x, r.Scan(&x.id, &x.nodeID, &x.pull, &x.author, &x.body, &x.created, &x.updated, &x.editor, &x.edited)
}

type wireComment struct {
	ID       int64     `json:"id"`
	NodeID   string    `json:"node_id"`
	User     *wireUser `json:"user"`
	Standing string    `json:"author_association"`
	Body     string    `json:"body"`
	Created  *string   `json:"created_at"`
	Updated  *string   `json:"updated_at"`
	URL      string    `json:"url"`
	HTML     string    `json:"html_url"`
	IssueURL string    `json:"issue_url"`
}

func (s *Server) wireComment(l links, x comment) wireComment {
	return wireComment{
		ID: x.id, NodeID: x.nodeID, User: l.user(x.author), Standing: s.association(x.author), Body: x.body, Created: stamp(x.created), Updated: stamp(x.updated),
		URL: l.api("/issues/comments/%d", x.id), HTML: l.html("/pull/%d#issuecomment-%d", x.pull, x.id), IssueURL: l.api("/issues/%d", x.pull),
	}
}

func (s *Server) comments(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	found, err := rows(c.Context(), s.db, scanComment, `SELECT `+commentColumns+` FROM comment WHERE pull = ? ORDER BY id`, p.number)
	if err != nil {
		return answer{}, err
	}
	return listing(c, found, func(x comment) wireComment { return s.wireComment(c.links, x) })
}

func (s *Server) comment(c call) (answer, error) {
	x, err := s.commentNumbered(c)
	if err != nil {
		return answer{}, err
	}
	return ok(s.wireComment(c.links, x))
}

func (s *Server) commentNumbered(c call) (comment, error) {
	id, err := c.number("id")
	if err != nil {
		return comment{}, err
	}
	return one(c.Context(), s.db, scanComment, `SELECT `+commentColumns+` FROM comment WHERE id = ?`, id)
}

func (c call) readBody() (string, error) {
	var in struct{ Body string }
	if err := c.read(&in); err != nil {
		return "", err
	}
	if strings.TrimSpace(in.Body) == "" {
		return "", invalid("IssueComment", "body", "missing_field", "Body can't be blank")
	}
	if len([]rune(in.Body)) > maxText {
		return "", invalid("IssueComment", "body", "unprocessable", "Body is too long (maximum is %d characters)", maxText)
	}
	return in.Body, nil
}

func (s *Server) addComment(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	x := comment{pull: p.number, author: c.login, created: s.now(), updated: s.now()}
	if x.body, err = c.readBody(); err != nil {
		return answer{}, err
	}
	ctx := c.Context()
	err = s.tx(ctx, func(tx *sql.Tx) error {
		var err error
		if x.id, err = s.nextID(ctx, tx); err != nil {
			return err
		}
		x.nodeID = fmt.Sprintf("IC_%d", x.id)
		_, err = tx.ExecContext(ctx, `INSERT INTO comment (`+commentColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, '', 0)`,
			x.id, x.nodeID, x.pull, x.author, x.body, x.created, x.updated)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return created(s.wireComment(c.links, x))
}

// editComment replaces a body; one's own, or anybody's with write permission.
func (s *Server) editComment(c call) (answer, error) {
	x, err := s.commentNumbered(c)
	if err != nil {
		return answer{}, err
	}
	if x.author != c.login && !s.mayWrite(c.login) {
		return answer{}, refuse(403, "Must have write access to %s", s.Repository)
	}
	if x.body, err = c.readBody(); err != nil {
		return answer{}, err
	}
	x.updated, x.editor, x.edited = s.now(), c.login, s.now()
	_, err = s.db.ExecContext(c.Context(), `UPDATE comment SET body = ?, updated = ?, editor = ?, edited = ? WHERE id = ?`,
		x.body, x.updated, x.editor, x.edited, x.id)
	if err != nil {
		return answer{}, err
	}
	return ok(s.wireComment(c.links, x))
}
