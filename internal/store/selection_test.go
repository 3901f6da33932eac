package store

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestParseSelection(t *testing.T) {
	for text, want := range map[string]Selection{
		"17961030729":                   {Run: 17961030729},
		"image:lab/simengine:v1":        {Image: "lab/simengine:v1"},
		"image:v1.0.0-cpu":              {Image: "v1.0.0-cpu"},
		"laba@v1":                       {Family: "laba", Image: "v1"},
		"configs/a.yaml:laba@x@sha256:": {Family: "configs/a.yaml:laba", Image: "x@sha256:"},
	} {
		want.Text = text
		if got, err := ParseSelection(text); err != nil || got != want {
			t.Errorf("%s: got %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "laba", "0", "-3", "image:", "@v1", "laba@", "99999999999999999999"} {
		if got, err := ParseSelection(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func TestSides(t *testing.T) {
	s := fresh(t)
	for i, image := range []string{v1, v1, v2, "other/simengine:v2.0.0-cpu"} {
		run, r := made(t, int64(i+1), 1, day1.AddDate(0, 0, i), image, 100)
		ingest(t, s, run, r, true)
	}
	run, r := made(t, 2, 2, day2, v1, 200) // a second attempt of run 2
	ingest(t, s, run, r, true)
	tests := []struct {
		name, old, new, family string
		oldRuns, newRuns       []int64
		err                    string
	}{
		{"image-against-run", "image:" + v1, "3", "", []int64{1, 2}, []int64{3}, ""},
		{"rest-against-one", "image:" + v1, "2", "", []int64{1}, []int64{2}, ""},
		{"family-by-key", "laba-fp8-cpu-sim@v1.0.0-cpu", "image:" + v2, family, []int64{1, 2}, []int64{3}, ""},
		{"digest-of-all", "1", "image:sha256:" + digits('d', 12), "", nil, nil, "every run of 1 is one of"},
		{"short-digest", "1", "image:sha256:" + digits('d', 11), "", nil, nil, "not stored"},
		{"tag-of-two-images", "1", "image:v2.0.0-cpu", "", nil, nil, "ambiguous"},
		{"half-a-family", "cpu-sim@v1.0.0-cpu", "3", "", nil, nil, "nothing is stored of this family"},
	}
	for _, tt := range tests {
		older, err := ParseSelection(tt.old)
		if err != nil {
			t.Fatal(err)
		}
		newer, err := ParseSelection(tt.new)
		if err != nil {
			t.Fatal(err)
		}
		old, now, err := s.Sides(context.Background(), tt.family, older, newer)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || errors.Is(err, ErrAmbiguous) != (tt.err == "ambiguous") {
				t.Errorf("%s: error %v, want %s", tt.name, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, side := range []struct {
			got  Side
			want []int64
		}{{old, tt.oldRuns}, {now, tt.newRuns}} {
			if len(side.got.Measured) != len(side.want) || len(side.got.Rows) != 2*len(side.want) || len(side.got.Evals) != len(side.want) {
				t.Errorf("%s: got %d runs, %d rows, %d evals, want %d runs", tt.name, len(side.got.Measured), len(side.got.Rows), len(side.got.Evals), len(side.want))
				continue
			}
			for i, m := range side.got.Measured {
				if m.RunID != side.want[i] || m.Family != family || m.RunID == 2 && m.Attempt != 2 {
					t.Errorf("%s: run %+v, want %d", tt.name, m, side.want[i])
				}
			}
		}
	}
}
