package result

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func FuzzParseManifest(f *testing.F) {
	head, key := strings.Repeat("c", 40), strings.Repeat("a", 64)
	for _, s := range []string{
		`{"version":1,"run-id":7,"run-attempt":1,"head":"` + head + `","mode":"full","families":[]}`,
		`{"version":1,"run-id":7,"run-attempt":1,"head":"` + head + `","mode":"push","families":[{"family":"configs/a-master.yaml:f","image":"a:v1","digest":"sha256:` + key +
			`","points":[{"key":"` + key + `","fingerprint":"` + key + `","conc":1,"label":"c1"}],"evals":[]}]}`,
		`{"version":2}`, `{}`, `null`, `{"version":1}{}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := ParseManifest(src)
		if err != nil {
			return
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseManifest(text)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("ParseManifest(%s): its own spelling gives %+v, %v", src, again, err)
		}
	})
}
