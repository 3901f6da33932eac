package recipe

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ScriptPath finds the recipe of a single-node entry, a bash script or a
// declarative one: the first existing file of those tried, which are returned
// in either case. The error is fs.ErrNotExist when none exists; both forms of
// one name are an error of their own.
func ScriptPath(fsys fs.FS, e Entry, scenario, specDecoding string) (string, []string, error) {
	if e.Multinode {
		return "", nil, errors.New("a multi-node entry has no single-node script")
	}
	folders := map[string]string{"fixed-seq-len": "fixed_seq_len", "agentic-coding": "agentic"}
	folder, ok := folders[scenario]
	if !ok {
		return "", nil, fmt.Errorf("unknown scenario %q", scenario)
	}
	code, _, _ := strings.Cut(e.ModelPrefix, "_")
	stem := code + "_" + e.Precision + "_" + SKU(e.Runner)
	var tried []string
	for _, suffix := range scriptSuffixes(e.Framework, specDecoding) {
		name := stem + suffix
		p := path.Join("benchmarks/single_node", folder, name)
		if strings.Contains(name, "/") || !fs.ValidPath(p) {
			return "", tried, fmt.Errorf("script name %q is no file name", name)
		}
		tried = append(tried, p+".sh", p+DeclaredExt)
	}
	for i := 0; i < len(tried); i += 2 { // the two forms of one name
		found, err := existing(fsys, tried[i:i+2])
		switch {
		case err != nil:
			return "", tried, err
		case len(found) > 1:
			return "", tried, fmt.Errorf("%s and %s both exist: one recipe of a name is enough, remove the other", found[0], found[1])
		case len(found) == 1:
			return found[0], tried, nil
		}
	}
	return "", tried, fmt.Errorf("no script for %s (tried %s): %w", stem, strings.Join(tried, ", "), fs.ErrNotExist)
}

// existing lists the regular files among paths.
func existing(fsys fs.FS, paths []string) ([]string, error) {
	var found []string
	for _, p := range paths {
		switch info, err := fs.Stat(fsys, p); {
		case err == nil && info.Mode().IsRegular():
			found = append(found, p)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("look for script %s: %w", p, reason(err))
		}
	}
	return found, nil
}

// scriptSuffixes lists the ends of a script's name without its extension, the
// most specific first.
// The short form names only engines that share a stem with another one.
func scriptSuffixes(framework, specDecoding string) []string {
	end := ""
	if specDecoding == "mtp" {
		end = "_mtp"
	}
	short := end
	if slices.Contains([]string{"trt", "atom"}, framework) {
		short = "_" + framework + end
	}
	return slices.Compact([]string{"_" + framework + end, short})
}

// SKU is the hardware in a runner label: "cluster:x9-west" and "x9_03" name x9.
func SKU(runner string) string {
	s := strings.TrimPrefix(runner, "cluster:")
	if i := strings.IndexAny(s, "-_"); i >= 0 {
		s = s[:i]
	}
	return s
}
