package local

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

type wireFile struct {
	SHA      string `json:"sha"`
	Filename string `json:"filename"`
	Status   string `json:"status"`
	Previous string `json:"previous_filename,omitempty"`
	Added    int    `json:"additions"`
	Deleted  int    `json:"deletions"`
	Changes  int    `json:"changes"`
	Blob     string `json:"blob_url"`
	Raw      string `json:"raw_url"`
	Contents string `json:"contents_url"`
}

func (s *Server) pullFiles(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	files, err := s.pullDiff(c.Context(), p)
	if err != nil {
		return answer{}, err
	}
	return listing(c, files, func(f wireFile) wireFile { return c.links.file(f, p.headSHA) })
}

// file adds the addresses of a changed file at a commit.
func (l links) file(f wireFile, commit string) wireFile {
	name := escaped(f.Filename)
	f.Blob, f.Raw = l.html("/blob/%s/%s", commit, name), l.html("/raw/%s/%s", commit, name)
	f.Contents = l.api("/contents/%s?ref=%s", name, commit)
	return f
}

// pullDiff lists what a pull request changes against where it left its base.
func (s *Server) pullDiff(ctx context.Context, p pull) ([]wireFile, error) {
	base, err := s.Git.MergeBase(ctx, p.baseSHA, p.headSHA)
	if err != nil {
		return nil, fmt.Errorf("files of pull %d: %w", p.number, err)
	}
	return s.diff(ctx, base, p.headSHA)
}

// diff lists the files that differ between two commits.
func (s *Server) diff(ctx context.Context, from, to string) ([]wireFile, error) {
	out, err := s.Git.Git(ctx, "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-abbrev", from, to)
	if err != nil {
		return nil, err
	}
	return readDiff(strings.Split(string(out), "\x00"))
}

var diffWords = map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'C': "copied", 'T': "changed"}

// readDiff reads git's NUL-separated raw and numstat fields: first all of one,
// then all of the other, in the same order.
func readDiff(fields []string) ([]wireFile, error) {
	files, at := []wireFile{}, 0
	for len(fields) > 0 && fields[0] != "" {
		first := fields[0]
		if strings.HasPrefix(first, ":") {
			f := strings.Fields(first)
			renamed := len(f) == 5 && (f[4][0] == 'R' || f[4][0] == 'C')
			if len(f) != 5 || len(fields) < 2 || renamed && len(fields) < 3 {
				return nil, errors.New("diff: malformed")
			}
			file := wireFile{SHA: f[3], Status: diffWords[f[4][0]], Filename: fields[1]}
			if file.SHA == zeros { // a removed file is named by what it was
				file.SHA = f[2]
			}
			if fields = fields[2:]; renamed {
				file.Previous, file.Filename = file.Filename, fields[0]
				fields = fields[1:]
			}
			files = append(files, file)
			continue
		}
		parts := strings.SplitN(first, "\t", 3)
		if len(parts) != 3 || at == len(files) {
			return nil, errors.New("diff: malformed counts")
		}
		file := &files[at]
		file.Added, _ = strconv.Atoi(parts[0]) // "-" for binary files
		file.Deleted, _ = strconv.Atoi(parts[1])
		file.Changes = file.Added + file.Deleted
		if fields, at = fields[1:], at+1; parts[2] == "" { // renamed: two names follow
			fields = fields[min(2, len(fields)):]
		}
	}
	return files, nil
}
