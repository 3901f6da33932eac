package run

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// fatal lists the log lines after which an engine never becomes ready, one
// expression a line.
//
//go:embed fatal.txt
var fatal string

// engineLog reads a growing log for lines that say why an engine ends.
type engineLog struct {
	path    string
	own     []*regexp.Regexp // of the recipe, which may mean any line
	common  []*regexp.Regexp
	secrets *redactor // what its lines must not tell

	read int64  // bytes looked at
	part []byte // of a line that has no end yet
	hit  string
}

func newEngineLog(path string, own []*regexp.Regexp, secrets *redactor) (*engineLog, error) {
	common, err := fatalPatterns()
	return &engineLog{path: path, own: own, common: common, secrets: secrets}, err
}

func fatalPatterns() ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for line := range strings.Lines(fatal) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		p, err := regexp.Compile(line)
		if err != nil {
			return nil, fmt.Errorf("fatal line %q: %w", line, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// Limits on what is searched and what is kept of a line.
const (
	maxScan = 1 << 20
	maxLine = 64 << 10
)

// fatalLine looks at what was added since the last call. It returns the first
// line after which the engine cannot become ready, "" while there is none.
func (l *engineLog) fatalLine() string {
	for l.hit == "" {
		more, err := l.added()
		if err != nil || len(more) == 0 {
			break
		}
		l.part = append(l.part, more...)
		for l.hit == "" {
			line, rest, whole := bytes.Cut(l.part, []byte("\n"))
			if !whole {
				l.part = l.part[:min(len(l.part), maxLine)]
				break
			}
			l.part = rest
			l.hit = l.fatal(plain(line))
		}
	}
	if l.hit != "" {
		return l.hit
	}
	return l.fatal(plain(l.part)) // an engine may die within its last line
}

func (l *engineLog) added() ([]byte, error) {
	info, err := os.Stat(l.path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	if info.Size() < l.read { // somebody emptied it
		l.read, l.part = 0, nil
	}
	f, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	more := make([]byte, min(info.Size()-l.read, maxScan))
	n, err := f.ReadAt(more, l.read)
	l.read += int64(n)
	if err == io.EOF {
		err = nil
	}
	return more[:n], err
}

func (l *engineLog) fatal(line string) string {
	matches := func(list []*regexp.Regexp) bool {
		for _, p := range list {
			if p.MatchString(line) {
				return true
			}
		}
		return false
	}
	if line != "" && (matches(l.own) || matches(l.common) && !benign(line)) {
		return clipped(l.secrets.hideText(line))
	}
	return ""
}

var (
	escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`)
	level   = regexp.MustCompile(`\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b|\[([DIWEF])\d*[\] ]|^([IWEF])\d{4} `)
	hedge   = regexp.MustCompile(`(?i)\b(retry(ing)?|try(ing)? (again|another|the next|port)|ignor(e|ed|ing)|fall(ing)? ?back)\b`)
	// symptoms follow from an error that stands above them.
	symptoms = regexp.MustCompile(`(?i)sigquit from a child|kill_process_tree|engine core initialization failed|enginecore failed to start|` +
		`scheduler hit an exception|process died before|connection refused|see root cause above|couldn't start container`)
	speaks = regexp.MustCompile(`(?i:\berror: |^error\b|^fatal\b|\bpanic: |segmentation fault|\bout of memory\b|no space left on device|address already in use)` +
		`|\b(ERROR|CRITICAL|FATAL)\b|\[[EF]\d*[\] ]`)
	raised = regexp.MustCompile(`(^|[\]\s|])([A-Za-z_]\w*\.)*[A-Z]\w*(Error|Exception|Interrupt)(:|$)`)
	trace  = regexp.MustCompile(`Traceback \(most recent call last\)`)
)

// plain is a line without colours, line ends, and whatever else moves a cursor.
func plain(line []byte) string {
	if i := bytes.LastIndexByte(bytes.TrimRight(line, "\r"), '\r'); i >= 0 {
		line = line[i+1:] // progress bars write over themselves
	}
	return strings.TrimSpace(workspace.Printable(escapes.ReplaceAllString(string(line), "")))
}

// benign lines look like errors and are none: their own level says so, or
// that something else is tried.
func benign(line string) bool {
	if m := level.FindStringSubmatch(line); m != nil {
		switch word := m[1] + m[2] + m[3]; word {
		case "ERROR", "CRITICAL", "FATAL", "E", "F":
		default:
			return true
		}
	}
	return hedge.MatchString(line)
}

func clipped(line string) string {
	const most = 400
	if len(line) > most {
		return strings.ToValidUTF8(line[:most], "") + "..."
	}
	return line
}

// firstError is the first line of the log that speaks of a real error: of a
// traceback the line that names the exception, and a symptom only when there
// is nothing else. last is the log's last line.
func (l *engineLog) firstError() (first, last string) {
	src, err := l.secrets.tail(l.path, maxScan)
	if err != nil {
		return "", ""
	}
	symptom, inTrace := "", false
	for raw := range bytes.Lines(src) {
		line := plain(raw[:min(len(raw), maxLine)])
		if line == "" {
			continue
		}
		last = clipped(line)
		switch {
		case trace.MatchString(line):
			inTrace = true
		case inTrace && !raised.MatchString(line):
		case benign(line) || !raised.MatchString(line) && !speaks.MatchString(line):
		case symptoms.MatchString(line):
			inTrace = false
			symptom = cmp.Or(symptom, last)
		default:
			return last, lastLine(src)
		}
	}
	return symptom, last
}

func lastLine(src []byte) string { return clipped(plain(lastLines(src, 1))) }

func because(lines ...string) string {
	for _, line := range lines {
		if line != "" {
			return ": " + line
		}
	}
	return ""
}

func lastLines(text []byte, n int) []byte {
	text = bytes.TrimRight(text, "\n")
	at := len(text)
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(text[:at], '\n')
		if at < 0 {
			return text
		}
	}
	return text[at+1:]
}
