package recipe

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetContainer sets the image of a multi-node recipe: model.container and
// identity.container.image, those that are written. A model.container that is
// an alias, which the cluster's own file resolves, stays.
func SetContainer(src []byte, file, image string) ([]byte, error) {
	if err := checkImageText(image); err != nil {
		return nil, fmt.Errorf("%s: set container: %w", file, err)
	}
	y, err := EditYAML(src, file)
	if err != nil {
		return nil, err
	}
	sections, err := y.sections()
	if err != nil {
		return nil, err
	}
	set, alias := 0, ""
	for i, section := range sections {
		for _, path := range [][]string{{"model", "container"}, {"identity", "container", "image"}} {
			path = slices.Concat(section, path)
			if !y.has(path) {
				continue
			}
			if i > 0 {
				return nil, fmt.Errorf("%s: %s: a variant has an image of its own; edit it by hand", file, strings.Join(path, "."))
			}
			if n := y.node(path); n != nil && path[len(path)-1] == "container" && n.Kind == yaml.ScalarNode && !strings.ContainsAny(n.Value, "/:#") {
				alias = n.Value
				continue
			}
			if err := y.setText(image, path...); err != nil {
				return nil, err
			}
			set++
		}
	}
	switch {
	case set == 0 && alias != "":
		return nil, fmt.Errorf("%s: set container: model.container is the alias %q, which the cluster's file resolves, and no identity.container.image is written", file, alias)
	case set == 0:
		return nil, fmt.Errorf("%s: set container: neither model.container nor identity.container.image is written", file)
	}
	return y.Bytes()
}
