package sim

import (
	"strings"
	"testing"
)

func TestParseProfileRejects(t *testing.T) {
	good := `{"version":"1","time":{"step-base":"1ms","max-batch":8}}`
	if _, err := ParseProfile([]byte(good)); err != nil {
		t.Fatalf("the smallest profile: %v", err)
	}
	for _, c := range []struct{ name, profile, want string }{
		{"unknown-key", `{"version":"1","speed":3}`, `unknown field "speed"`},
		{"number-for-duration", strings.Replace(good, `"1ms"`, `1`, 1), "not a text such as"},
		{"no-unit", strings.Replace(good, `"1ms"`, `"1"`, 1), "want a number with a unit"},
		{"no-version", strings.Replace(good, `"1"`, `""`, 1), "version: missing"},
		{"no-step", strings.Replace(good, `"1ms"`, `"0s"`, 1), "time.step-base"},
		{"no-batch", strings.Replace(good, `8`, `0`, 1), "time.max-batch"},
		{"accuracy-above-one", strings.Replace(good, `{"v`, `{"answers":{"accuracy":1.5},"v`, 1), "answers.accuracy"},
		{"bad-digest", strings.Replace(good, `{"v`, `{"answers":{"lost":["abc"]},"v`, 1), "answers.lost[0]"},
		{"negative-fault", strings.Replace(good, `{"v`, `{"faults":{"die-after-requests":-1},"v`, 1), "faults.die-after-requests"},
		{"two-objects", good + good, "more than one JSON value"},
		{"empty", "", "engine profile"},
	} {
		_, err := ParseProfile([]byte(c.profile))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
