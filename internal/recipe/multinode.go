package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A multi-node recipe for srt-slurm keeps, under backend, the flags of each
// role in <engine>_config.<role>, named without the dashes in front, and its
// environment in <role>_environment. A file of variants has all of that under
// base, and again, as far as a variant differs, under override_... and
// zip_override_... keys.

// Roles are the kinds of workers that a multi-node recipe starts.
var Roles = []string{"prefill", "decode", "aggregated"}

// RenameFlag gives a role's flag another name wherever the file sets it. The
// names may be written with dashes in front; inside, a name that is written
// with underscores stays one with underscores.
func (y *YAML) RenameFlag(engine, role, from, to string) error {
	paths, err := y.flag(engine, role, from)
	for _, path := range paths {
		name := undashed(to)
		if strings.Contains(path[len(path)-1], "_") {
			name = strings.ReplaceAll(name, "-", "_")
		}
		err = errors.Join(err, y.Rename(name, path...))
	}
	return err
}

// DropFlag takes a role's flag out with its value wherever the file sets it.
func (y *YAML) DropFlag(engine, role, flag string) error {
	paths, err := y.flag(engine, role, flag)
	for _, path := range paths {
		err = errors.Join(err, y.Drop(path...))
	}
	return err
}

// SetFlag gives a role's flag another value. Variants of the file with values
// of their own are refused.
func (y *YAML) SetFlag(engine, role, flag, value string) error {
	paths, err := y.flag(engine, role, flag)
	if err != nil {
		return err
	}
	return y.setOnly(paths, value)
}

// RenameVariable gives a variable of a role's environment another name
// wherever the file sets it.
func (y *YAML) RenameVariable(role, from, to string) error {
	if !variableName.MatchString(to) {
		return fmt.Errorf("%s: %q is no name of a variable", y.file, to)
	}
	paths, err := y.variable(role, from)
	for _, path := range paths {
		err = errors.Join(err, y.Rename(to, path...))
	}
	return err
}

// DropVariable takes a variable out of a role's environment.
func (y *YAML) DropVariable(role, name string) error {
	paths, err := y.variable(role, name)
	for _, path := range paths {
		err = errors.Join(err, y.Drop(path...))
	}
	return err
}

// SetVariable gives a variable of a role's environment another value.
func (y *YAML) SetVariable(role, name, value string) error {
	paths, err := y.variable(role, name)
	if err != nil {
		return err
	}
	return y.setOnly(paths, value)
}

func (y *YAML) setOnly(paths [][]string, value string) error {
	if len(paths) > 1 {
		return fmt.Errorf("%s: %s and %s: variants have values of their own; edit them by hand", y.file, strings.Join(paths[0], "."), strings.Join(paths[1], "."))
	}
	return y.Set(value, paths[0]...)
}

// flag lists the paths at which a role's flag is set. Dashes and underscores
// are one, but both in one map are refused.
func (y *YAML) flag(engine, role, flag string) ([][]string, error) {
	return y.setting(role, undashed(flag), []string{"backend", engine + "_config", role}, func(key string) bool {
		return strings.ReplaceAll(key, "_", "-") == strings.ReplaceAll(undashed(flag), "_", "-")
	})
}

func (y *YAML) variable(role, name string) ([][]string, error) {
	return y.setting(role, name, []string{"backend", role + "_environment"}, func(key string) bool { return key == name })
}

func (y *YAML) setting(role, name string, home []string, is func(string) bool) ([][]string, error) {
	if !slices.Contains(Roles, role) {
		return nil, fmt.Errorf("%s: unknown role %q%s; known are %s", y.file, role, didYouMean(role, Roles), strings.Join(Roles, ", "))
	}
	sections, err := y.sections()
	if err != nil {
		return nil, err
	}
	var paths [][]string
	for _, section := range sections {
		path := slices.Concat(section, home)
		keys := y.keys(path, is)
		if len(keys) > 1 {
			return nil, fmt.Errorf("%s: %s: %s are two spellings of one flag", y.file, strings.Join(path, "."), strings.Join(keys, " and "))
		}
		if len(keys) == 1 {
			paths = append(paths, append(path, keys[0]))
		} else if y.has(append(path, name)) {
			_, err := y.find(append(path, name)) // says what is in the way
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: %s: %q is not set", y.file, strings.Join(slices.Concat(sections[0], home), "."), name)
	}
	return paths, nil
}

// undashed is a flag's name as the maps have it.
func undashed(flag string) string { return strings.TrimLeft(flag, "-") }

// sections are the paths of the mappings that hold recipes: the file itself,
// or its base and then its variants.
func (y *YAML) sections() ([][]string, error) {
	if y.root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: want a mapping, got %s", y.file, y.root.Line, describe(y.root))
	}
	if keyIndex(y.root, "base") < 0 {
		return [][]string{nil}, nil
	}
	sections := [][]string{{"base"}}
	for i := 0; i+1 < len(y.root.Content); i += 2 {
		if k := y.root.Content[i].Value; strings.HasPrefix(k, "override_") || strings.HasPrefix(k, "zip_override_") {
			sections = append(sections, []string{k})
		}
	}
	return sections, nil
}

// keys lists the keys of the mapping at a path that are meant.
func (y *YAML) keys(path []string, meant func(string) bool) []string {
	n := y.node(path)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var keys []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Kind == yaml.ScalarNode && meant(k.Value) && !slices.Contains(keys, k.Value) {
			keys = append(keys, k.Value)
		}
	}
	return keys
}

// node is what stands at a path, through aliases but not merge keys; nil when
// nothing does.
func (y *YAML) node(path []string) *yaml.Node {
	n := y.root
	for _, name := range path {
		i := -1
		if n.Kind == yaml.MappingNode {
			i = keyIndex(n, name)
		}
		if i < 0 {
			return nil
		}
		if n = n.Content[i+1]; n.Kind == yaml.AliasNode {
			n = n.Alias
		}
	}
	return n
}
