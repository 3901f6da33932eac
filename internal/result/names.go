package result

import (
	_ "embed"
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"sync"
)

//go:embed names.json
var namesJSON []byte

type nameTables struct {
	Models []struct {
		Key     string   `json:"key"`
		Display string   `json:"display"`
		Paths   []string `json:"paths"`
	} `json:"models"`
	Prefixes   map[string]string `json:"prefixes"`
	Suffixes   []string          `json:"suffixes"`
	Frameworks map[string]struct {
		Name   string `json:"name"`
		Disagg bool   `json:"disagg"`
	} `json:"frameworks"`
	Disaggregated []string          `json:"disaggregated"`
	Precisions    map[string]string `json:"precisions"`
}

// names are the shipped tables of public names.
var names = sync.OnceValue(func() nameTables {
	var t nameTables
	if err := json.Unmarshal(namesJSON, &t); err != nil {
		panic("result: names.json: " + err.Error())
	}
	return t
})

// DisplayName is the public name of a model: that of its prefix, else that of
// its path, else the last element of the path, else the prefix.
func DisplayName(prefix, modelPath string) string {
	if _, display, ok := knownModel(prefix, modelPath); ok {
		return display
	}
	if last := path.Base(modelPath); modelPath != "" && last != "/" {
		return last
	}
	return prefix
}

// KnownDisplayName says whether the shipped tables hold a public model name.
func KnownDisplayName(name string) bool {
	for _, m := range names().Models {
		if m.Display == name {
			return true
		}
	}
	return false
}

// ModelKey is the store's name of a model, lower-case: from the tables, else
// the prefix, else the last element of the path.
func ModelKey(prefix, modelPath string) string {
	if key, _, ok := knownModel(prefix, modelPath); ok {
		return key
	}
	if prefix != "" {
		return strings.ToLower(prefix)
	}
	return strings.ToLower(path.Base(modelPath))
}

func knownModel(prefix, modelPath string) (key, display string, ok bool) {
	t := names()
	tries := []string{strings.ToLower(prefix)}
	for _, s := range t.Suffixes {
		tries = append(tries, strings.TrimSuffix(tries[0], s))
	}
	for _, name := range tries {
		if alias, ok := t.Prefixes[name]; ok {
			name = alias
		}
		for _, m := range t.Models {
			if m.Key == name {
				return m.Key, m.Display, true
			}
		}
	}
	for _, m := range t.Models {
		for _, p := range m.Paths {
			if p == modelPath {
				return m.Key, m.Display, true
			}
		}
	}
	return "", "", false
}

var runnerIndex = regexp.MustCompile(`_[0-9]+$`)

// hardwareName is the hardware of a runner: lower-case, behind the last colon,
// without the runner's index, up to the first dash.
func hardwareName(runner string) string {
	name := strings.ToLower(runner)
	name = name[strings.LastIndex(name, ":")+1:]
	name, _, _ = strings.Cut(runnerIndex.ReplaceAllString(name, ""), "-")
	return name
}

// frameworkName is the store's name of a framework and whether that name alone
// says disaggregated.
func frameworkName(framework string) (name string, disagg bool) {
	name = strings.ToLower(framework)
	t := names()
	if f, ok := t.Frameworks[name]; ok {
		name, disagg = f.Name, f.Disagg
	}
	for _, p := range t.Disaggregated {
		disagg = disagg || strings.HasPrefix(name, p)
	}
	return name, disagg
}

func precisionName(precision string) string {
	name := strings.ToLower(precision)
	if known, ok := names().Precisions[name]; ok {
		return known
	}
	return name
}

func specName(method string) string {
	if method == "" {
		return "none"
	}
	return strings.ToLower(method)
}
