package local

import (
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
)

func (s *Server) pullLabels(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	return listing(c, p.labels, c.links.label)
}

// addLabels puts labels on a pull request; each one that is new is an event.
func (s *Server) addLabels(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	var in struct{ Labels []string }
	if err := c.readLabels(&in.Labels); err != nil {
		return answer{}, err
	}
	for _, name := range in.Labels {
		if err := checkLabel(name); err != nil {
			return answer{}, err
		}
	}
	for _, name := range in.Labels {
		if err := s.addLabel(c, p.number, name); err != nil {
			return answer{}, err
		}
	}
	if p, err = s.pullNumbered(c); err != nil {
		return answer{}, err
	}
	return ok(c.links.labels(p.labels))
}

// readLabels accepts both of GitHub's forms: {"labels": [...]} and [...].
func (c call) readLabels(names *[]string) error {
	var raw rawJSON
	if err := c.read(&raw); err != nil {
		return err
	}
	var in struct{ Labels []labelName }
	if raw.decode(&in.Labels) != nil && raw.decode(&in) != nil {
		return refuse(422, "Invalid request: labels is not a list of names")
	}
	for _, l := range in.Labels {
		*names = append(*names, string(l))
	}
	return nil
}

// A labelName is written "name" or {"name": "name"}.
type labelName string

// UnmarshalJSON reads either form.
func (l *labelName) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(l)) == nil {
		return nil
	}
	var in struct{ Name string }
	err := json.Unmarshal(data, &in)
	*l = labelName(in.Name)
	return err
}

// labelEvent describes the coming or going of a label, before it happens: what
// git says is asked before a transaction, so that that stays short. It is nil
// when no workflow starts.
func (s *Server) labelEvent(c call, p pull, action string) (*pullPayload, error) {
	starts, err := s.starts(c.Context(), p)
	if err != nil || !starts {
		return nil, err
	}
	e, err := s.pullEvent(c.Context(), c.actor(), p, action)
	return &e, err
}

func (s *Server) addLabel(c call, number int, name string) error {
	ctx := c.Context()
	p, err := s.findPull(ctx, `number = ?`, number)
	if err != nil {
		return err
	}
	if p.has(name) {
		return nil
	}
	e, err := s.labelEvent(c, p, "labeled")
	if err != nil {
		return err
	}
	err = s.tx(ctx, func(tx *sql.Tx) error {
		made, _, err := s.ensureLabel(ctx, tx, name, "", "")
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO pull_label (pull, name) VALUES (?, ?)`, p.number, made.name)
		if err != nil {
			return err
		}
		p.labels, p.updated = append(p.labels, made), s.now()
		if err := s.savePull(ctx, tx, p); err != nil || e == nil {
			return err
		}
		return s.relabeled(ctx, tx, c.actor(), p, *e, made)
	})
	s.work.wake()
	return err
}

// removeLabel takes a label off a pull request, which is an event like putting
// one on. That a pull request is closed takes no label off.
func (s *Server) removeLabel(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	at := slices.IndexFunc(p.labels, func(l label) bool { return strings.EqualFold(l.name, c.PathValue("name")) })
	if at < 0 {
		return answer{}, refuse(404, "Label does not exist")
	}
	e, err := s.labelEvent(c, p, "unlabeled")
	if err != nil {
		return answer{}, err
	}
	ctx, gone := c.Context(), p.labels[at]
	p.labels, p.updated = slices.Delete(p.labels, at, at+1), s.now()
	err = s.tx(ctx, func(tx *sql.Tx) error {
		if err := s.savePull(ctx, tx, p); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM pull_label WHERE pull = ? AND name = ?`, p.number, gone.name)
		if err != nil || e == nil {
			return err
		}
		return s.relabeled(ctx, tx, c.actor(), p, *e, gone)
	})
	if err != nil {
		return answer{}, err
	}
	s.work.wake()
	return ok(c.links.labels(p.labels))
}
