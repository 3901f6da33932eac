package store

import "testing"

func FuzzParseSelection(f *testing.F) {
	for _, s := range []string{"17961031251", "image:v1", "laba@v1.0.0", "image:", "@", "-1", "0", "image:a@b", "configs/a-master.yaml:f@sha256:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelection(text)
		if err != nil {
			return
		}
		if s.Text != text || (s.Run > 0) == (s.Image != "") || s.Run < 0 || s.Run > 0 && s.Family != "" {
			t.Errorf("ParseSelection(%q): got %+v, want one run or one image", text, s)
		}
	})
}
