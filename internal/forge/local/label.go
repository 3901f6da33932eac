package local

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

type label struct {
	id                       int64
	name, color, description string
}

func scanLabel(r *sql.Rows) (label, error) {
	var l label
	return l, r.Scan(&l.id, &l.name, &l.color, &l.description)
}

func (l links) label(x label) wireLabel {
	return wireLabel{
		ID: x.id, NodeID: fmt.Sprintf("LA_%d", x.id), Name: x.name, Color: x.color, Description: x.description,
		URL: l.api("/labels/%s", escaped(x.name)),
	}
}

func (l links) labels(all []label) []wireLabel { return each(all, l.label) }

func (s *Server) labels(c call) (answer, error) {
	all, err := rows(c.Context(), s.db, scanLabel, `SELECT id, name, color, description FROM label ORDER BY name`)
	if err != nil {
		return answer{}, err
	}
	return listing(c, all, c.links.label)
}

func (s *Server) createLabel(c call) (answer, error) {
	var in struct{ Name, Color, Description string }
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	if err := checkLabel(in.Name); err != nil {
		return answer{}, err
	}
	var made label
	err := s.tx(c.Context(), func(tx *sql.Tx) error {
		var fresh bool
		var err error
		made, fresh, err = s.ensureLabel(c.Context(), tx, in.Name, in.Color, in.Description)
		if err == nil && !fresh {
			err = invalid("Label", "name", "already_exists", "")
		}
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return created(c.links.label(made))
}

func checkLabel(name string) error {
	if strings.TrimSpace(name) == "" || len(name) > 50*4 || strings.ContainsAny(name, "\n\r\x00") {
		return invalid("Label", "name", "invalid", "")
	}
	return nil
}

// ensureLabel returns the repository's label of a name, which it makes if needed.
func (s *Server) ensureLabel(ctx context.Context, tx *sql.Tx, name, color, description string) (made label, fresh bool, err error) {
	const query = `SELECT id, name, color, description FROM label WHERE name = ?`
	found, err := rows(ctx, tx, scanLabel, query, name)
	if err != nil || len(found) > 0 {
		return append(found, label{})[0], false, err
	}
	if color == "" {
		color = "ededed"
	}
	id, err := s.nextID(ctx, tx)
	if err != nil {
		return label{}, false, err
	}
	made = label{id: id, name: name, color: color, description: description}
	_, err = tx.ExecContext(ctx, `INSERT INTO label (id, name, color, description) VALUES (?, ?, ?, ?)`, id, name, color, description)
	return made, true, err
}
