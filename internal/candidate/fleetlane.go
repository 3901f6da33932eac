package candidate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/report"
)

// lanes are the tags of the repositories of a fleet, each asked for once.
type lanes struct {
	off     string // why nothing was asked
	tags    map[string][]string
	problem map[string]string
}

// asking is how many repositories are asked at once.
const asking = 8

// lanes asks for the tags of every repository whose tags can be ordered.
func (s Survey) lanes(ctx context.Context, images []report.FleetImage) lanes {
	l := lanes{off: s.NoTags, tags: map[string][]string{}, problem: map[string]string{}}
	if s.Tags == nil {
		l.off = orWord(l.off, "nobody was asked")
		return l
	}
	if s.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Wait)
		defer cancel()
	}
	names := map[string]bool{}
	for _, img := range images {
		if ref, err := image.Parse(img.Image); err == nil {
			if _, _, ok := image.Lane(ref.Tag); ok {
				names[ref.Name()] = true
			}
		}
	}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(asking)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		g.Go(func() error {
			tags, err := s.Tags(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				l.problem[name] = brief(ctx, name, err)
			} else {
				l.tags[name] = tags
			}
			return nil
		})
	}
	_ = g.Wait() // no goroutine returns an error
	return l
}

func orWord(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// brief is why a repository did not answer. What is wrong with a registry reads
// the same for all of its repositories.
func brief(ctx context.Context, name string, err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "registries did not answer in time"
	case errors.Is(err, image.ErrNotFound):
		return fmt.Sprintf("tags of %s: there are none", name)
	case errors.As(err, &dns):
		return fmt.Sprintf("%s cannot be reached: %s", dns.Name, dns.Err)
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = fmt.Sprintf("tags of %s: %s", name, strings.TrimPrefix(line, fmt.Sprintf("tags of %s: ", name)))
	if r := []rune(line); len(r) > 160 {
		line = string(r[:160]) + "..."
	}
	return line
}

// standing is where an image is in its lane.
func (l lanes) standing(img *report.FleetImage) {
	img.Lane = report.LaneUnknown
	ref, err := image.Parse(img.Image)
	if err != nil {
		img.Reason = err.Error()
		return
	}
	_, _, ordered := image.Lane(ref.Tag)
	tags, known := l.tags[ref.Name()]
	switch {
	case ref.Tag == "":
		img.Reason = "the image has no tag"
	case !ordered:
		img.Reason = "the tag names no release, date or commit"
	case l.off != "":
		img.Reason = l.off
	case !known:
		img.Reason = l.problem[ref.Name()]
	default:
		l.compare(img, ref, tags)
	}
}

// compare holds the image against the tags of its repository.
func (lanes) compare(img *report.FleetImage, ref image.Ref, tags []string) {
	newest, newer := image.Newest(tags, ref.Tag)
	switch {
	case newer:
		img.Lane, img.Newest = report.LaneBehind, newest
	case unordered(tags, ref.Tag):
		img.Reason = "the lane's tags are named by commit alone, which says no order"
	default:
		img.Lane = report.LaneNewest
	}
}

// unordered says that the lane holds another tag that cannot be compared.
func unordered(tags []string, current string) bool {
	now, _ := image.ParseVersion(current)
	return slices.ContainsFunc(tags, func(tag string) bool {
		v, ok := image.ParseVersion(tag)
		if !ok || v.Lane != now.Lane || tag == current {
			return false
		}
		_, ok = v.Compare(now)
		return !ok
	})
}

// notes counts the reasons why images have no standing, the most frequent first.
func (l lanes) notes(images []report.FleetImage) []string {
	count := map[string]int{}
	for _, img := range images {
		if img.Reason != "" {
			count[img.Reason]++
		}
	}
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	var notes []string
	for _, r := range reasons {
		notes = append(notes, fmt.Sprintf("newest in lane unknown for %d of %d images: %s", count[r], len(images), r))
	}
	return notes
}
