package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/workspace"
)

// The codes of a feed that stops a wave: it could not be read, or what was read
// is not that feed.
const (
	LatestImagesInvalid      = "latest-images-invalid"
	FrameworkReleasesInvalid = "framework-releases-invalid"
)

// FeedError says that a feed cannot be used at all. Code is one of the codes
// above, for programs and records; Err says what is wrong.
type FeedError struct {
	Code string
	Err  error
}

func (e *FeedError) Error() string { return e.Code + ": " + e.Err.Error() }

func (e *FeedError) Unwrap() error { return e.Err }

// ImageFeed is the feed latest-images after validation: the rows that may be
// used, in the feed's order, and those that were set aside.
type ImageFeed struct {
	Rows  []LatestImage
	Aside []AsideRow
}

// AsideRow is an invalid row. Row counts from 0.
type AsideRow struct {
	Row int
	Err error
}

// ParseImageFeed reads the text of latest-images. One invalid row is set
// aside. Text that is no list, and a number that is not finite anywhere in it
// (1e400), is a *FeedError: nothing of such a feed may reach a hash.
func ParseImageFeed(src []byte) (ImageFeed, error) {
	var rows []json.RawMessage
	if err := finite(src, '['); err != nil {
		return ImageFeed{}, &FeedError{LatestImagesInvalid, err}
	}
	if err := json.Unmarshal(src, &rows); err != nil {
		return ImageFeed{}, &FeedError{LatestImagesInvalid, err}
	}
	var feed ImageFeed
	for i, raw := range rows {
		row, err := parseImageRow(raw)
		if err != nil {
			feed.Aside = append(feed.Aside, AsideRow{i, err})
			continue
		}
		feed.Rows = append(feed.Rows, row)
	}
	return feed, nil
}

// ParseReleaseFeed reads the text of framework-releases: an object whose values
// are tags or null. It has no rows that could be set aside: anything else in it
// is a *FeedError.
func ParseReleaseFeed(src []byte) (FrameworkReleases, error) {
	releases, err := parseReleases(src)
	if err != nil {
		return nil, &FeedError{FrameworkReleasesInvalid, err}
	}
	return releases, nil
}

func parseReleases(src []byte) (FrameworkReleases, error) {
	if err := finite(src, '{'); err != nil {
		return nil, err
	}
	if err := distinct(src); err != nil {
		return nil, err
	}
	var releases FrameworkReleases
	if err := json.Unmarshal(src, &releases); err != nil {
		return nil, errors.New("a release is neither text nor null")
	}
	for engine, tag := range releases {
		if strings.TrimSpace(engine) == "" {
			return nil, errors.New("a release has no framework")
		}
		if tag != nil && strings.TrimSpace(*tag) == "" {
			return nil, fmt.Errorf("the release of %q is empty: unknown is null", engine)
		}
	}
	return releases, nil
}

// ImageFeed reads and validates latest-images. Every error is a *FeedError.
func (c *Client) ImageFeed(ctx context.Context) (ImageFeed, error) {
	var src json.RawMessage
	if err := c.read(ctx, "latest-images", nil, &src); err != nil {
		return ImageFeed{}, &FeedError{LatestImagesInvalid, err}
	}
	return ParseImageFeed(src)
}

// ReleaseFeed reads and validates framework-releases. Every error is a *FeedError.
func (c *Client) ReleaseFeed(ctx context.Context) (FrameworkReleases, error) {
	var src json.RawMessage
	if err := c.read(ctx, "framework-releases", nil, &src); err != nil {
		return nil, &FeedError{FrameworkReleasesInvalid, err}
	}
	return ParseReleaseFeed(src)
}

// parseImageRow wants what consumers of the feed rely on: text that is not
// empty, a real boolean, lengths of at least 1 or null, a day of the calendar.
func parseImageRow(raw json.RawMessage) (LatestImage, error) {
	f, err := rowFields(raw)
	if err != nil {
		return LatestImage{}, err
	}
	row := LatestImage{
		Model: f.text("model"), Hardware: f.text("hardware"), Framework: f.text("framework"), Precision: f.text("precision"),
		SpecMethod: f.text("spec_method"), Disagg: f.boolean("disagg"), ISL: f.length("isl"), OSL: f.length("osl"),
		BenchmarkType: f.text("benchmark_type"), Image: f.text("image"), Date: f.text("date"),
	}
	if _, err := time.Parse(time.DateOnly, row.Date); err != nil {
		f.bad("date", "a day as YYYY-MM-DD")
	}
	return row, f.err
}

// fields are the members of one object. err is the first that was not as wanted.
type fields struct {
	raw map[string]json.RawMessage
	err error
}

func rowFields(raw json.RawMessage) (*fields, error) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errors.New("want an object")
	}
	if err := distinct(raw); err != nil {
		return nil, err
	}
	f := &fields{}
	return f, json.Unmarshal(raw, &f.raw)
}

func (f *fields) bad(name, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: want %s", name, want)
	}
}

func (f *fields) text(name string) string {
	var s string
	if raw := f.raw[name]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil || strings.TrimSpace(s) == "" {
		f.bad(name, "text that is not empty")
	}
	return s
}

func (f *fields) boolean(name string) bool {
	raw := string(f.raw[name])
	if raw != "true" && raw != "false" {
		f.bad(name, "true or false")
	}
	return raw == "true"
}

// length is null or an integer as JSON writes one: 8192.0 is none.
func (f *fields) length(name string) *int {
	raw := string(f.raw[name])
	if raw == "null" {
		return nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < 1 {
		f.bad(name, "an integer of at least 1, or null")
		return nil
	}
	return &n
}

// finite wants one JSON value that starts with open, all of whose numbers are
// finite. Fields that nobody reads count too: an identity may cover them later.
func finite(src []byte, open byte) error {
	src = bytes.TrimSpace(src)
	if len(src) == 0 || src[0] != open {
		return fmt.Errorf("want a JSON value that starts with %q", string(open))
	}
	var any any
	err := json.Unmarshal(src, &any)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return errors.New("a number is not finite")
	}
	return err
}

// distinct wants an object in which no key is repeated, at any depth: two
// readers of one text must not see two different things.
func distinct(src []byte) error {
	var any any
	return workspace.DecodeStrict(src, &any)
}
