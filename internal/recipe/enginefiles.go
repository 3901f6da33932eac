package recipe

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// EngineFiles lists the engine recipes of a checkout that an entry's CONFIG_FILE
// settings name, sorted. One that is not checked in, because the launcher brings
// it, is left out.
func EngineFiles(checkout fs.FS, scripts string, e Entry) []string {
	var files []string
	for _, s := range e.searches() {
		for _, w := range []*Worker{s.Prefill, s.Decode} {
			if w == nil {
				continue
			}
			for _, text := range w.Settings {
				if value, ok := strings.CutPrefix(text, "CONFIG_FILE="); ok {
					files = append(files, checkedIn(checkout, scripts, value)...)
				}
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// checkedIn is where the file that a CONFIG_FILE setting names lies, at most one path.
func checkedIn(checkout fs.FS, scripts, setting string) []string {
	names, _ := enginePaths(scripts, setting)
	for _, n := range names {
		if info, err := fs.Stat(checkout, n); err == nil && info.Mode().IsRegular() {
			return []string{n}
		}
	}
	return nil
}

// enginePaths are the paths of a checkout at which the engine recipe of a
// CONFIG_FILE setting may lie, in the order in which they are tried, and the
// variant of it.
func enginePaths(scripts, setting string) (names []string, variant string) {
	name, variant, _ := strings.Cut(setting, ":")
	names = []string{path.Clean(name)}
	if rest, ok := strings.CutPrefix(names[0], "recipes/"); ok {
		names = append(names, path.Join(scripts, overlays, rest))
	}
	return slices.DeleteFunc(names, func(n string) bool { return !fs.ValidPath(n) || n == "." }), variant
}
