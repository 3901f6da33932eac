package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func someFleet() Fleet {
	days, few := 203, 9
	return Fleet{
		Sum: FleetSum{Families: 3, Images: 3, Points: 21, Behind: 1, Unknown: 1, Open: 1, Hidden: 1},
		Images: []FleetImage{
			{Image: "reg.example/lab/a-repository-with-a-long-name/loom:v1.0.0-box7-20260519", AgeDays: &days, AgeFrom: AgeRecipe, AtLeast: true,
				Lane: LaneBehind, Newest: "v2.0.0-box7", Families: []FleetFamily{
					{Family: "one-fp8-box-loom-agentic", Points: 10, Open: []FleetCandidate{{ID: "0123", NewImage: "lab/loom:v2", Step: "smoke", State: "waiting", Pull: 7}}},
				}},
			{Image: "lab/loom@sha256:" + strings.Repeat("ab", 32), AgeDays: &few, AgeFrom: AgeTag, Lane: LaneNewest, Families: []FleetFamily{{Family: "two", Points: 7}}},
			{Image: "lab/\x1b[31mred", AgeFrom: AgeUnknown, Lane: LaneUnknown, Families: []FleetFamily{{Family: "three", Points: 4}}},
		},
		Notes: []string{"newest in lane unknown for 1 of 3 images: \x1b[0mthe tag names no release"},
	}
}

func TestFleetText(t *testing.T) {
	const wide = `  AGE  FROM     IMAGE, and below it families with their points
>203d  recipe   reg.example/lab/a-repository-with-a-long-name/loom:v1.0.0-box7-20260519  -> v2.0.0-box7
       one-fp8-box-loom-agentic   10
         open: lab/loom:v2, waiting at smoke, #7, 0123
   9d  tag      lab/loom@sha256:abababababab  newest
       two                         7
    ?  unknown  lab/[31mred
       three                       4

note: newest in lane unknown for 1 of 3 images: [0mthe tag names no release
3 families on 3 images, 21 points; newer in lane: 1 yes, 1 no, 1 unknown; 1 open candidate (1 family not shown)
`
	var b strings.Builder
	someFleet().Text(&b, 0, false)
	if b.String() != wide {
		t.Errorf("got\n%s\nwant\n%s", b.String(), wide)
	}
}

// On a terminal what is newest goes below an image whose line is full, and a
// name that is too long loses its middle.
func TestFleetTextFitsTheTerminal(t *testing.T) {
	var b strings.Builder
	someFleet().Text(&b, 60, false)
	lines := strings.Split(b.String(), "\n")
	for _, line := range lines[:9] { // notes and summary are sentences
		if n := utf8.RuneCountInString(line); n > 60 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if want := ">203d  recipe   reg.example/lab/a-rep…m:v1.0.0-box7-20260519"; lines[1] != want {
		t.Errorf("got %q, want %q", lines[1], want)
	}
	if want := "                -> v2.0.0-box7"; lines[2] != want {
		t.Errorf("got %q, want %q", lines[2], want)
	}
}
