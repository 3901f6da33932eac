package run

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf16"
)

// hidden takes the place of a secret.
const hidden = "***"

// redactor hides secrets in texts, in every spelling that programs use by
// accident: as they are, in JSON, in an address, in base64 at any offset, and
// wrapped into lines.
type redactor struct {
	spellings [][]byte // without line ends, none empty
	longest   int
}

// redactor hides the job's secrets.
func (j Job) redactor() *redactor { return newRedactor(j.secrets()) }

// hideSecrets hides the job's secrets in a whole text.
func (j Job) hideSecrets(text []byte) []byte { return j.redactor().hide(text) }

func newRedactor(secrets []string) *redactor {
	r := &redactor{}
	seen := map[string]bool{}
	for _, s := range secrets {
		for _, spelling := range append(spellings(s), encodings(s)...) {
			flat := string(squeezed([]byte(spelling)))
			if len(flat) < shortSecret || seen[flat] {
				continue
			}
			seen[flat] = true
			r.spellings = append(r.spellings, []byte(flat))
			r.longest = max(r.longest, len(flat))
		}
	}
	return r
}

// spellings are a secret as it is, quoted for a shell, in JSON, in JSON within
// JSON, and in addresses.
func spellings(s string) []string {
	out := []string{s, strings.ReplaceAll(s, "'", `'\''`)}
	for _, text := range []string{asJSON(s, true), asJSON(s, false), asASCII(s)} {
		out = append(out, text, asJSON(text, false))
	}
	query := url.QueryEscape(s)
	strict := strings.ReplaceAll(query, "+", "%20") // a real plus is %2B
	for _, text := range []string{query, strict, strings.ReplaceAll(strict, "%2F", "/"), url.PathEscape(s)} {
		out = append(out, text, lowerHex(text))
	}
	return out
}

// asJSON is the inside of a JSON string.
func asJSON(s string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(s) != nil {
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// asASCII is the same as programs write it that escape all other letters.
func asASCII(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(asJSON(s, false))) {
		if u < 0x80 {
			b.WriteByte(byte(u))
			continue
		}
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(digits[u>>shift&15])
		}
	}
	return b.String()
}

// lowerHex spells %2F as %2f.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
}

// encodings are the characters of base64 that depend on nothing but the
// secret, for each of the three offsets that it can have in a larger text.
func encodings(s string) []string {
	const fewest = 6 // shorter ones are met by chance
	var out []string
	for offset := range 3 {
		text := base64.StdEncoding.EncodeToString(append(make([]byte, offset), s...))
		first, end := (offset*8+5)/6, (offset+len(s))*8/6
		if end-first < fewest {
			continue
		}
		text = text[first:end]
		out = append(out, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
	}
	return out
}

// hide returns the text with every secret hidden.
func (r *redactor) hide(text []byte) []byte {
	var b bytes.Buffer
	w := r.writer(&b)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

func (r *redactor) hideText(s string) string { return string(r.hide([]byte(s))) }

// tail reads the last bytes of a regular file with secrets hidden, also the
// one through which the cut goes.
func (r *redactor) tail(path string, most int64) ([]byte, error) {
	before := int64(2 * r.longest)
	src, err := tailOf(path, most+before)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := r.writer(&b)
	w.skip = max(len(src)-int(most), 0)
	_, _ = w.Write(src)
	_ = w.Close()
	return b.Bytes(), nil
}

// writer passes on what is written with secrets hidden, wherever the writes
// cut them. It holds back what may be the beginning of one until Close.
func (r *redactor) writer(to io.Writer) *redacting { return &redacting{redactor: r, to: to} }

type redacting struct {
	*redactor
	to      io.Writer
	skip    int    // bytes that are looked at and not passed on
	pending []byte // held back
	covered int    // of pending, by a secret that was found and announced
}

// piece bounds what is searched at once.
const piece = 1 << 20

func (w *redacting) Write(p []byte) (int, error) {
	n := 0
	for part := range slices.Chunk(p, piece) {
		w.pending = append(w.pending, part...)
		if err := w.pass(w.found()); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// Close passes on what was held back.
func (w *redacting) Close() error {
	spans, _ := w.found()
	return w.pass(spans, len(w.pending))
}

// span is a stretch of pending, end exclusive.
type span struct{ from, to int }

// found are the secrets in pending, in order and without overlap, and where
// something begins that may become one.
func (w *redacting) found() (spans []span, hold int) {
	flat := squeezed(w.pending)
	at := positions(w.pending, len(flat))
	hold = len(w.pending)
	if w.covered > 0 {
		spans = append(spans, span{0, w.covered})
	}
	for _, s := range w.spellings {
		for i := 0; ; i++ { // occurrences may overlap each other
			k := bytes.Index(flat[i:], s)
			if k < 0 {
				break
			}
			i += k
			spans = append(spans, span{at(i), at(i+len(s)-1) + 1})
		}
		for i := max(len(flat)-len(s)+1, 0); i < len(flat); i++ {
			if flat[i] == s[0] && bytes.HasPrefix(s, flat[i:]) {
				hold = min(hold, at(i))
				break
			}
		}
	}
	return union(spans), hold
}

// positions maps an index of the squeezed text to that of the text.
func positions(text []byte, flat int) func(int) int {
	if flat == len(text) {
		return func(i int) int { return i }
	}
	var starts, before []int // of each line; how much of the squeezed text lies before it
	n, fresh := 0, true
	for i, c := range text {
		if c == '\n' || c == '\r' {
			fresh = true
			continue
		}
		if fresh {
			starts, before, fresh = append(starts, i), append(before, n), false
		}
		n++
	}
	return func(i int) int {
		line, exact := slices.BinarySearch(before, i)
		if !exact {
			line--
		}
		return starts[line] + i - before[line]
	}
}

func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var out []span
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.from < out[last].to {
			out[last].to = max(out[last].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// pass writes pending up to hold and keeps the rest.
func (w *redacting) pass(spans []span, hold int) error {
	var out []byte
	at, covered := 0, max(w.covered-hold, 0)
	show := func(to int) {
		if from := max(at, w.skip); from < to {
			out = append(out, w.pending[from:to]...)
		}
	}
	for _, s := range spans {
		if s.from >= hold {
			break
		}
		show(s.from)
		if s.to > w.skip && (s.from > 0 || w.covered == 0) {
			out = append(out, hidden...)
		}
		at = min(s.to, hold)
		covered = max(covered, s.to-hold)
	}
	show(hold)
	w.pending = append(w.pending[:0], w.pending[hold:]...)
	w.covered, w.skip = covered, max(w.skip-hold, 0)
	_, err := w.to.Write(out)
	return err
}

// secretsVariable names, for the processes of a job, the variables whose
// values they must not tell.
const secretsVariable = "REFIT_SECRETS"

// inherited hides what the job that started this process hides.
func inherited() *redactor {
	var all []string
	for name := range strings.SplitSeq(os.Getenv(secretsVariable), ",") {
		all = append(all, secretsOf(name, os.Getenv(name))...)
	}
	return newRedactor(all)
}
