package local

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A person is an author or committer of a commit.
type person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Date  string `json:"date"` // RFC 3339
}

// A commit is a commit object.
type commit struct {
	sha, tree         string
	parents           []string
	author, committer person
	message           string
}

// encode writes a commit the way git keeps it.
func (c commit) encode() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	for _, who := range []struct {
		role string
		person
	}{{"author", c.author}, {"committer", c.committer}} {
		at, err := time.Parse(time.RFC3339, who.Date)
		if err != nil {
			return nil, refuse(422, "%s date %q is not a time", who.role, who.Date)
		}
		fmt.Fprintf(&b, "%s %s <%s> %d %s\n", who.role, plainName(who.Name), plainName(who.Email), at.Unix(), at.Format("-0700"))
	}
	fmt.Fprintf(&b, "\n%s", strings.ReplaceAll(c.message, "\x00", ""))
	return b.Bytes(), nil
}

func plainName(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' {
			return -1
		}
		return r
	}, s))
}

// readCommit reads a commit object; none is a 404.
func (s *Server) readCommit(ctx context.Context, sha string) (commit, error) {
	if s.kind(ctx, sha) != "commit" {
		return commit{}, errNotFound
	}
	out, err := s.object(ctx, "commit", sha)
	if err != nil {
		return commit{}, err
	}
	c := commit{sha: sha, parents: []string{}}
	header, message, _ := strings.Cut(string(out), "\n\n")
	c.message = message
	for line := range strings.SplitSeq(header, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			c.author = personOf(value)
		case "committer":
			c.committer = personOf(value)
		}
	}
	return c, nil
}

// personOf reads "name <email> seconds zone"; times are given in UTC.
func personOf(s string) person {
	name, rest, _ := strings.Cut(s, " <")
	email, when, _ := strings.Cut(rest, "> ")
	seconds, _, _ := strings.Cut(when, " ")
	at, _ := strconv.ParseInt(seconds, 10, 64)
	return person{Name: name, Email: email, Date: time.Unix(at, 0).UTC().Format(time.RFC3339)}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
