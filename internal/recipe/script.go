package recipe

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ScriptPath finds the bash recipe of a single-node entry: the first existing
// file of those tried, which are returned in either case. The error is
// fs.ErrNotExist when none exists.
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
		tried = append(tried, p)
	}
	for _, p := range tried {
		switch info, err := fs.Stat(fsys, p); {
		case err == nil && info.Mode().IsRegular():
			return p, tried, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", tried, fmt.Errorf("look for script %s: %w", p, reason(err))
		}
	}
	return "", tried, fmt.Errorf("no script for %s (tried %s): %w", stem, strings.Join(tried, ", "), fs.ErrNotExist)
}

// scriptSuffixes lists the ends of a script's name, the most specific first.
// The short form names only engines that share a stem with another one.
func scriptSuffixes(framework, specDecoding string) []string {
	end := ".sh"
	if specDecoding == "mtp" {
		end = "_mtp.sh"
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
