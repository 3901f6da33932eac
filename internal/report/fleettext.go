package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/refit-bench/refit/internal/workspace"
)

// Text writes the fleet for people: a line per image, and below it one per
// family. Lines longer than width are folded or shortened in the middle; a
// width of 0 is no limit. Write errors are the writer's to remember.
func (f Fleet) Text(w io.Writer, width int, color bool) {
	p := paint{color}
	if len(f.Images) > 0 {
		fmt.Fprintln(w, p.bold(shortened("  AGE  FROM     IMAGE, and below it families with their points", width)))
	}
	keys := 0
	for _, img := range f.Images {
		for _, fam := range img.Families {
			keys = max(keys, utf8.RuneCountInString(fam.Family))
		}
	}
	for _, img := range f.Images {
		img.text(w, width, p)
		for _, fam := range img.Families {
			line := fmt.Sprintf("%s%-*s %4d", familyIndent, keys, fam.Family, fam.Points)
			fmt.Fprintln(w, shortened(line, width))
			for _, c := range fam.Open {
				fmt.Fprintln(w, shortened(familyIndent+"  "+c.sentence(), width))
			}
		}
	}
	if len(f.Images) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range f.Notes {
		fmt.Fprintf(w, "note: %s\n", workspace.Printable(n))
	}
	fmt.Fprintln(w, f.Sum.sentence())
}

const familyIndent = "       "

// text is the line of an image. What follows it in its lane stands behind it
// or, where there is no room, below.
func (i FleetImage) text(w io.Writer, width int, p paint) {
	age := "?"
	if i.AgeDays != nil {
		age = strconv.Itoa(*i.AgeDays) + "d"
		if i.AtLeast {
			age = ">" + age
		}
	}
	left := fmt.Sprintf("%5s  %-7s  ", age, i.AgeFrom)
	right := ""
	switch i.Lane {
	case LaneNewest:
		right = "newest"
	case LaneBehind:
		right = "-> " + workspace.Printable(i.Newest)
	}
	name := shortDigest(i.Image)
	length := len(left) + utf8.RuneCountInString(name)
	switch {
	case right == "":
		fmt.Fprintln(w, left+p.bold(shortened(name, width-len(left))))
	case width > 0 && length+2+len(right) > width:
		fmt.Fprintln(w, left+p.bold(shortened(name, width-len(left))))
		fmt.Fprintln(w, shortened(strings.Repeat(" ", len(left))+right, width))
	default:
		fmt.Fprintln(w, left+p.bold(name)+"  "+right)
	}
}

// sentence tells where a candidate stands.
func (c FleetCandidate) sentence() string {
	s := fmt.Sprintf("open: %s, %s at %s", c.NewImage, c.State, c.Step)
	if c.Pull > 0 {
		s += fmt.Sprintf(", #%d", c.Pull)
	}
	return s + ", " + c.ID
}

// sentence is the summary.
func (s FleetSum) sentence() string {
	text := fmt.Sprintf("%s on %s, %s; ", families(s.Families), counted(s.Images, "image"), counted(s.Points, "point"))
	text += fmt.Sprintf("newer in lane: %d yes, %d no, %d unknown; ", s.Behind, s.Images-s.Behind-s.Unknown, s.Unknown)
	text += counted(s.Open, "open candidate")
	if s.Hidden > 0 {
		text += fmt.Sprintf(" (%s not shown)", families(s.Hidden))
	}
	return text
}

func families(n int) string {
	if n == 1 {
		return "1 family"
	}
	return strconv.Itoa(n) + " families"
}

// shortDigest keeps twelve digits of a digest.
func shortDigest(image string) string {
	name, digest, ok := strings.Cut(image, "@sha256:")
	if !ok || len(digest) < 12 {
		return workspace.Printable(image)
	}
	return workspace.Printable(name + "@sha256:" + digest[:12])
}

// shortened leaves out the middle of a text that is longer than width; the end
// of an image's name tells more than its middle.
func shortened(s string, width int) string {
	r := []rune(workspace.Printable(s))
	if width <= 0 || len(r) <= width {
		return string(r)
	}
	if width < 8 {
		return string(r[:width])
	}
	head := (width - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(width-1-head):])
}
