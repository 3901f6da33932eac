package workspace

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// LineCommit is the commit that gave a line its present text. The zero Time
// means that the line is not committed yet.
type LineCommit struct {
	Time   time.Time // of the commit
	Commit string    // full id, "" when not committed
	Oldest bool      // the history that is here begins with it: the line may be older
}

// Lines says who set lines of a file of the checkout, numbered from 1, as it
// lies there. One git process answers for all of them.
func (r Repo) Lines(ctx context.Context, path string, lines []int) (map[int]LineCommit, error) {
	if len(lines) == 0 {
		return map[int]LineCommit{}, nil
	}
	// A file of ignored revisions is the user's taste, and an error where it is missing.
	args := []string{"-c", "blame.ignoreRevsFile=", "blame", "--porcelain", "--no-textconv"}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(lines))) {
		args = append(args, fmt.Sprintf("-L%d,%d", n, n))
	}
	out, err := r.Git(ctx, append(args, "--", path)...)
	if err != nil {
		return nil, err
	}
	shallow, err := r.Git(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return nil, err
	}
	return parseBlame(string(out), strings.TrimSpace(string(shallow)) == "true")
}

// parseBlame reads git blame --porcelain: a header for each line, and facts of
// a commit behind the first of its lines.
func parseBlame(out string, shallow bool) (map[int]LineCommit, error) {
	commits := map[string]*LineCommit{}
	at := map[int]*LineCommit{}
	var now *LineCommit
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "\t") {
			now = nil // the content ends a line's record
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if now == nil {
			final := strings.Fields(rest)
			if len(final) < 2 {
				return nil, fmt.Errorf("git blame: cannot read %q", line)
			}
			n, err := strconv.Atoi(final[1])
			if err != nil {
				return nil, fmt.Errorf("git blame: cannot read %q", line)
			}
			if commits[word] == nil {
				commits[word] = &LineCommit{}
				if strings.Trim(word, "0") != "" {
					commits[word].Commit = word
				}
			}
			now = commits[word]
			at[n] = now
			continue
		}
		switch word {
		case "committer-time":
			seconds, err := strconv.ParseInt(rest, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("git blame: cannot read %q", line)
			}
			if now.Commit != "" {
				now.Time = time.Unix(seconds, 0).UTC()
			}
		case "boundary":
			now.Oldest = shallow
		}
	}
	lines := make(map[int]LineCommit, len(at))
	for n, c := range at {
		lines[n] = *c
	}
	return lines, nil
}
