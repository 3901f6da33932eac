package image

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Version is what a tag says about itself. Tags of one lane differ only in
// their version: same accelerator build, same flavour, same channel.
type Version struct {
	Release string // as spelled, "v0.5.20.post1"; "" for a build that names none
	Lane    string // "rocm720-mi30x"; a release number on a build between releases adds "nightly"
	Date    string // "20260918" or "202609181200" of a build between releases
	Commit  string // 7 to 40 hex digits of a build between releases

	numbers []uint64
	phase   phase
	round   uint64 // the 1 of rc1
	post    uint64 // 1 + the 2 of post2; 0 without
}

// phase orders what comes before a release.
type phase int

const (
	development phase = iota
	alpha
	beta
	candidate
	final
)

var phases = map[string]phase{"dev": development, "a": alpha, "alpha": alpha, "b": beta, "beta": beta, "rc": candidate, "": final}

var (
	// A bare a or b counts only right behind the number: in v1.0-a100 it is a device.
	releaseForm = regexp.MustCompile(`^(v?([0-9]+(?:\.[0-9]+)+)(?:[.-]?(dev|rc|alpha|beta)\.?([0-9]*)|(a|b)([0-9]+))?(?:\.(post)([0-9]*))?)(?:[-_](.+))?$`)
	// embedded finds an engine's version at the end of a tag that begins with its stack.
	embedded = regexp.MustCompile(`^(.*_[a-z]+)([0-9]+(?:\.[0-9]+)+.*)$`)
	hexWord  = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
)

// ParseVersion reads a tag. It is false for tags that name no release, date or
// commit, such as "latest" or "dev".
func ParseVersion(tag string) (Version, bool) {
	if !tagForm.MatchString(tag) {
		return Version{}, false
	}
	stack, text := "", tag
	m := releaseForm.FindStringSubmatch(tag)
	if m == nil {
		if e := embedded.FindStringSubmatch(tag); e != nil {
			stack, text = e[1], e[2]
			m = releaseForm.FindStringSubmatch(text)
		}
	}
	if m == nil {
		return parseBuild(tag)
	}
	v := Version{Release: m[1], phase: phases[m[3]+m[5]]}
	v.Lane, v.Date, v.Commit = cutBuild(m[9])
	if v.Date != "" || v.Commit != "" {
		v.Lane = joined(v.Lane, "nightly")
	}
	v.Lane = joined(stack, v.Lane)
	ok := true
	for part := range strings.SplitSeq(m[2], ".") {
		v.numbers = append(v.numbers, number(part, &ok))
	}
	v.round = number(m[4]+m[6], &ok)
	if m[7] != "" {
		v.post = 1 + number(m[8], &ok)
	}
	return v, ok
}

// Prerelease tells whether the release is still to come.
func (v Version) Prerelease() bool { return v.phase != final }

// Compare orders two versions of one lane: negative when v is older. It is
// false where tags do not say, as for two builds named only by commit.
func (v Version) Compare(w Version) (int, bool) {
	if (v.Release == "") != (w.Release == "") {
		return 0, false
	}
	for i := range max(len(v.numbers), len(w.numbers)) {
		if c := cmp.Compare(at(v.numbers, i), at(w.numbers, i)); c != 0 {
			return c, true
		}
	}
	if c := cmp.Or(cmp.Compare(v.phase, w.phase), cmp.Compare(v.round, w.round), cmp.Compare(v.post, w.post)); c != 0 {
		return c, true
	}
	if n := min(len(v.Date), len(w.Date)); n > 0 && v.Date[:n] != w.Date[:n] {
		return cmp.Compare(v.Date[:n], w.Date[:n]), true
	} else if n > 0 && len(v.Date) == len(w.Date) && v.Commit == w.Commit {
		return 0, true
	}
	return 0, v.Date == w.Date && v.Commit == w.Commit
}

// Lane parts a tag into version and lane: "v0.5.20-rocm720-mi30x" into v0.5.20
// and rocm720-mi30x. A build that names no release has its date and commit for
// a version. It is false where ParseVersion is.
func Lane(tag string) (version, lane string, ok bool) {
	v, ok := ParseVersion(tag)
	if !ok {
		return "", "", false
	}
	if v.Release != "" {
		return v.Release, v.Lane, true
	}
	return joined(v.Date, v.Commit), v.Lane, true
}

// Newest is the newest tag of current's lane that is newer than current. A
// release is never followed by a pre-release; a pre-release is followed by the
// newest release where one is newer, else by the newest pre-release. It is
// false when nothing is newer, or when the tags do not say.
func Newest(tags []string, current string) (string, bool) {
	now, ok := ParseVersion(current)
	if !ok {
		return "", false
	}
	best, bestTag := now, ""
	for _, tag := range slices.Sorted(slices.Values(tags)) {
		v, ok := ParseVersion(tag)
		if !ok || v.Lane != now.Lane || v.Prerelease() && !best.Prerelease() {
			continue
		}
		c, ok := v.Compare(best)
		if !ok {
			continue
		}
		past, _ := v.Compare(now)
		if c > 0 || past > 0 && !v.Prerelease() && best.Prerelease() {
			best, bestTag = v, tag
		}
	}
	return bestTag, bestTag != ""
}

func parseBuild(tag string) (Version, bool) {
	v := Version{phase: final}
	v.Lane, v.Date, v.Commit = cutBuild(tag)
	if v.Lane == "" {
		v.Lane = "nightly"
	}
	return v, v.Date != "" || v.Commit != ""
}

// cutBuild takes date and commit off the end of a tag. Digits alone are a
// commit only behind a date or when they are forty; letters alone likewise.
func cutBuild(s string) (rest, date, commit string) {
	head, last := cutLast(s)
	_, before := cutLast(head)
	mixed := strings.ContainsAny(last, "0123456789") && strings.ContainsAny(last, "abcdef")
	if hexWord.MatchString(last) && !isDate(last) && (mixed || len(last) == 40 || isDate(before)) {
		s, commit = head, last
	}
	if head, last := cutLast(s); isDate(last) {
		s, date = head, last
	}
	return s, date, commit
}

func cutLast(s string) (head, last string) {
	i := strings.LastIndexAny(s, "-_")
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

// isDate takes days and minutes of this century.
func isDate(s string) bool {
	if len(s) != 8 && len(s) != 12 || s[:2] != "20" {
		return false
	}
	_, err := time.Parse("200601021504"[:len(s)], s)
	return err == nil
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "-" + b
}

func at(numbers []uint64, i int) uint64 {
	if i < len(numbers) {
		return numbers[i]
	}
	return 0
}

// number reads digits; none are zero, too many make the tag unreadable.
func number(digits string, ok *bool) uint64 {
	if digits == "" {
		return 0
	}
	n, err := strconv.ParseUint(digits, 10, 62)
	if err != nil {
		*ok = false
	}
	return n
}
