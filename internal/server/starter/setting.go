package starter

import (
	"fmt"

	"github.com/refit-bench/refit/internal/workspace"
)

// wanted are the settings that refit's own refit.yaml makes and the one that is
// there does not, each with what stands there and where. Comments and order are
// not compared: they are the owner's.
func wanted(there, own []byte) ([]string, error) {
	_, have, err := workspace.ParseConfig(there, workspace.ConfigName)
	if err != nil {
		return nil, err
	}
	_, want, err := workspace.ParseConfig(own, "refit's own "+workspace.ConfigName)
	if err != nil {
		return nil, err
	}
	now := map[string]workspace.Setting{}
	for _, s := range have {
		now[s.Key] = s
	}
	var out []string
	for _, s := range want {
		if old := now[s.Key]; s.Origin != "default" && s.Value != old.Value {
			out = append(out, fmt.Sprintf("%s: %s (now %s, %s)", s.Key, s.Value, old.Value, old.Origin))
		}
	}
	return out, nil
}
