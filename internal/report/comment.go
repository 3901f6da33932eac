package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBody bounds a comment's body, in characters; forges refuse longer ones.
const maxBody = 60000

// Record is what a comment of the program holds: a typed record as JSON, and
// the page it was rendered to.
type Record struct {
	Kind     string // report | outcome | cleanup | receipt
	Parent   string // the wave's run id, or p + 12 hex
	ID       string // of the candidate
	Name     string // baseline, run-<run id>-<attempt>, <step>-<digest>, ...; "" for outcome and cleanup
	JSON     json.RawMessage
	Markdown string
}

var (
	kinds      = []string{"report", "outcome", "cleanup", ReceiptKind}
	parentName = regexp.MustCompile(`^(?:[1-9][0-9]{0,18}|p[0-9a-f]{12})$`)
	recordName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)
	prefixName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
)

// Marker is the first line of a record's comment: what to look for before
// posting it again.
func (p Policy) Marker(kind, parent, id, name string) string {
	m := "<!-- " + p.Prefix + "-" + kind + ":" + parent + ":" + id
	if name != "" {
		m += ":" + name
	}
	return m
}

// Record makes the body of a comment: the marker, v as one line of JSON in
// which no > is left, the comment's end, and the Markdown. kind is report,
// outcome, cleanup or receipt; reports and receipts have a name. The error says
// what cannot be written, or that the body has 60,000 characters or more.
func (p Policy) Record(kind, parent, id, name string, v any, markdown string) (string, error) {
	data, err := json.Marshal(v) // escapes <, > and &
	if err != nil {
		return "", fmt.Errorf("record %s %s: %w", kind, name, err)
	}
	r := Record{Kind: kind, Parent: parent, ID: id, Name: name}
	if err := r.check(p.Prefix); err != nil {
		return "", err
	}
	body := p.Marker(kind, parent, id, name) + "\n" + string(data) + "\n-->\n" + markdown
	if n := utf8.RuneCountInString(body); n >= maxBody {
		return "", fmt.Errorf("record %s %s: body of %d characters, must be under %d", kind, name, n, maxBody)
	}
	return body, nil
}

func (r Record) check(prefix string) error {
	named := r.Kind == "report" || r.Kind == ReceiptKind
	switch {
	case !prefixName.MatchString(prefix):
		return fmt.Errorf("record: prefix %q is not a name", prefix)
	case !slices.Contains(kinds, r.Kind):
		return fmt.Errorf("record: unknown kind %q", r.Kind)
	case !parentName.MatchString(r.Parent):
		return fmt.Errorf("record %s: parent %q is not a run id", r.Kind, r.Parent)
	case !id.MatchString(r.ID):
		return fmt.Errorf("record %s: candidate %q is not an id", r.Kind, r.ID)
	case named && !recordName.MatchString(r.Name), !named && r.Name != "":
		return fmt.Errorf("record %s: name %q does not fit", r.Kind, r.Name)
	}
	return nil
}

// ParseRecord reads a comment's body. It says false, without an error, for a
// comment that is no record of this prefix; an error means that the comment
// begins like a record but is not what Record writes, byte for byte.
func ParseRecord(prefix, body string) (Record, bool, error) {
	head, rest, ok := strings.Cut(body, "\n")
	kind, after, found := strings.Cut(strings.TrimPrefix(head, "<!-- "+prefix+"-"), ":")
	if !strings.HasPrefix(head, "<!-- "+prefix+"-") || !found || !slices.Contains(kinds, kind) {
		return Record{}, false, nil
	}
	fields := strings.Split(after, ":")
	if len(fields) < 2 || len(fields) > 3 || (len(fields) == 3 && fields[2] == "") {
		return Record{}, false, fmt.Errorf("comment: malformed marker %.100q", head)
	}
	r := Record{Kind: kind, Parent: fields[0], ID: fields[1], Name: strings.Join(fields[2:], "")}
	if err := r.check(prefix); err != nil {
		return Record{}, false, fmt.Errorf("comment: %w", err)
	}
	line, rest, closed := strings.Cut(rest, "\n-->\n")
	if !ok || !closed {
		return Record{}, false, fmt.Errorf("comment %s: no end of the record", kind)
	}
	if !written(line) || !utf8.ValidString(body) || utf8.RuneCountInString(body) >= maxBody {
		return Record{}, false, fmt.Errorf("comment %s: not a record as it was written", kind)
	}
	r.JSON, r.Markdown = json.RawMessage(line), rest
	return r, true, nil
}

// written says whether line is compact JSON of an object as encoding/json
// writes it: one line, and no <, > or & unescaped.
func written(line string) bool {
	if !strings.HasPrefix(line, "{") || strings.ContainsAny(line, "\r\n<>&\u2028\u2029") || !json.Valid([]byte(line)) {
		return false
	}
	var b bytes.Buffer
	return json.Compact(&b, []byte(line)) == nil && b.String() == line
}
