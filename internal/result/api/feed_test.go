package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goodRow = `{"model":"m","hardware":"h","framework":"f","precision":"fp8","spec_method":"none","disagg":false,` +
	`"isl":8192,"osl":1024,"benchmark_type":"single_turn","image":"a/b:v1","date":"2026-09-10"}`

// The sample's rows are all usable, also the one without lengths.
func TestSampleOfLatestImagesIsValid(t *testing.T) {
	feed, err := ParseImageFeed(shared(t, "latest-images.json"))
	if err != nil || len(feed.Rows) != 4 || len(feed.Aside) != 0 {
		t.Fatalf("%d rows, %v aside, %v, want 4 rows", len(feed.Rows), feed.Aside, err)
	}
	if r := feed.Rows[0]; r.Image != "lmsysorg/sglang:v0.5.19-rocm700-mi30x" || *r.ISL != 8192 || *r.OSL != 1024 || r.Date != "2026-09-10" {
		t.Errorf("first row %+v", r)
	}
	if r := feed.Rows[2]; r.ISL != nil || r.OSL != nil || r.BenchmarkType != "agentic_traces" {
		t.Errorf("third row %+v", r)
	}
	if r := feed.Rows[3]; !r.Disagg || r.SpecMethod != "mtp" {
		t.Errorf("fourth row %+v", r)
	}
}

func TestSamplesOfReleasesAreValid(t *testing.T) {
	for name, want := range map[string]string{"framework-releases.json": "v0.29.0", "framework-releases-partial.json": ""} {
		releases, err := ParseReleaseFeed(shared(t, name))
		if err != nil || releases["sglang"] == nil || *releases["sglang"] != "v0.5.20" {
			t.Errorf("%s: %v, %v", name, releases, err)
		}
		if tag, known := releases["vllm"]; !known || (tag == nil) != (want == "") || tag != nil && *tag != want {
			t.Errorf("%s: vllm is %v (%v), want %q", name, tag, known, want)
		}
	}
}

// One invalid row is set aside and counted; the others stay.
func TestOneInvalidRowIsSetAside(t *testing.T) {
	check := func(name, old, new, want string) {
		t.Helper()
		if !strings.Contains(goodRow, old) {
			t.Fatalf("%s: the row has no %s", name, old)
		}
		feed, err := ParseImageFeed(fmt.Appendf(nil, "[%s,%s,%s]", goodRow, strings.Replace(goodRow, old, new, 1), goodRow))
		if err != nil || len(feed.Rows) != 2 || len(feed.Aside) != 1 {
			t.Errorf("%s: %d rows, %d aside, %v, want 2 and 1", name, len(feed.Rows), len(feed.Aside), err)
			return
		}
		if aside := feed.Aside[0]; aside.Row != 1 || aside.Err.Error() != want {
			t.Errorf("%s: row %d: %v, want row 1: %s", name, aside.Row, aside.Err, want)
		}
	}
	check("empty text", `"m"`, `""`, "model: want text that is not empty")
	check("blank text", `"a/b:v1"`, `"  "`, "image: want text that is not empty")
	check("null text", `"single_turn"`, `null`, "benchmark_type: want text that is not empty")
	check("number for text", `"fp8"`, `8`, "precision: want text that is not empty")
	check("missing", `"hardware":"h",`, ``, "hardware: want text that is not empty")
	check("key in another case", `"framework"`, `"Framework"`, "framework: want text that is not empty")
	check("text for a boolean", `"disagg":false`, `"disagg":"false"`, "disagg: want true or false")
	check("number for a boolean", `"disagg":false`, `"disagg":0`, "disagg: want true or false")
	check("null for a boolean", `"disagg":false`, `"disagg":null`, "disagg: want true or false")
	check("length zero", `8192`, `0`, "isl: want an integer of at least 1, or null")
	check("length negative", `1024`, `-1`, "osl: want an integer of at least 1, or null")
	check("length with a point", `8192`, `8192.0`, "isl: want an integer of at least 1, or null")
	check("length as text", `8192`, `"8192"`, "isl: want an integer of at least 1, or null")
	check("length too large", `8192`, `99999999999999999999`, "isl: want an integer of at least 1, or null")
	check("length missing", `"osl":1024,`, ``, "osl: want an integer of at least 1, or null")
	check("no such day", `2026-09-10`, `2026-02-30`, "date: want a day as YYYY-MM-DD")
	check("a moment", `2026-09-10`, `2026-09-10T00:00:00Z`, "date: want a day as YYYY-MM-DD")
	check("repeated key", `"model":"m"`, `"model":"m","model":"n"`, `key "model" is repeated`)
	check("no object", goodRow, `["m"]`, "want an object")
	check("null", goodRow, `null`, "want an object")
}

// What a newer server adds to a row is no fault.
func TestUnknownFieldsOfARowAreIgnored(t *testing.T) {
	feed, err := ParseImageFeed([]byte("\n[" + strings.Replace(goodRow, `"isl"`, `"digest":{"x":[1,2.5]},"isl"`, 1) + "]\n"))
	if err != nil || len(feed.Rows) != 1 {
		t.Errorf("%+v, %v, want one row", feed, err)
	}
}

func TestNoRowsAreAValidFeed(t *testing.T) {
	if feed, err := ParseImageFeed([]byte(`[]`)); err != nil || len(feed.Rows)+len(feed.Aside) != 0 {
		t.Errorf("%+v, %v", feed, err)
	}
	if releases, err := ParseReleaseFeed([]byte(`{}`)); err != nil || len(releases) != 0 {
		t.Errorf("%v, %v", releases, err)
	}
}

func TestInvalidFeedHasAFixedCode(t *testing.T) {
	images := func(src string) error { _, err := ParseImageFeed([]byte(src)); return err }
	releases := func(src string) error { _, err := ParseReleaseFeed([]byte(src)); return err }
	tests := []struct {
		name  string
		parse func(string) error
		src   string
		want  string // of the message; its first word is the code
	}{
		{"images-empty", images, ``, `latest-images-invalid: want a JSON value that starts with "["`},
		{"images-null", images, `null`, `latest-images-invalid: want a JSON value that starts with "["`},
		{"images-object", images, `{"error":"busy"}`, `latest-images-invalid: want a JSON value that starts with "["`},
		{"images-cut", images, `[` + goodRow, `latest-images-invalid: unexpected end of JSON input`},
		{"images-two-values", images, `[] []`, `latest-images-invalid: invalid character '[' after top-level value`},
		{"images-nan", images, strings.Replace("["+goodRow+"]", "8192", "NaN", 1), `latest-images-invalid: invalid character 'N' looking for beginning of value`},
		{"images-infinite", images, strings.Replace("["+goodRow+"]", "8192", "1e400", 1), `latest-images-invalid: a number is not finite`},
		{"images-infinite-in-unread-field", images, strings.Replace("["+goodRow+"]", `"isl"`, `"x":[{"y":-1e400}],"isl"`, 1), `latest-images-invalid: a number is not finite`},
		{"releases-list", releases, `[]`, `framework-releases-invalid: want a JSON value that starts with "{"`},
		{"releases-number", releases, `{"vllm":1}`, `framework-releases-invalid: a release is neither text nor null`},
		{"releases-infinite", releases, `{"vllm":1e400}`, `framework-releases-invalid: a number is not finite`},
		{"releases-empty-tag", releases, `{"vllm":" "}`, `framework-releases-invalid: the release of "vllm" is empty: unknown is null`},
		{"releases-empty-framework", releases, `{"":"v1"}`, `framework-releases-invalid: a release has no framework`},
		{"releases-repeated", releases, `{"vllm":"v1","vllm":"v2"}`, `framework-releases-invalid: key "vllm" is repeated`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.parse(tt.src)
			var feed *FeedError
			if !errors.As(err, &feed) || err.Error() != tt.want {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if !strings.HasPrefix(tt.want, feed.Code+": ") {
				t.Errorf("code %q", feed.Code)
			}
		})
	}
}

// The client asks the two feeds at their addresses, within its bounds.
func TestClientReadsFeeds(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		body := "[" + goodRow + ",{}]"
		if strings.Contains(r.URL.Path, "releases") {
			body = `{"sim":"v2"}`
		}
		say(200, "application/json", body)(w, r)
	}))
	defer srv.Close()
	c := &Client{Base: srv.URL}
	feed, err := c.ImageFeed(context.Background())
	if err != nil || len(feed.Rows) != 1 || len(feed.Aside) != 1 {
		t.Errorf("%+v, %v", feed, err)
	}
	releases, err := c.ReleaseFeed(context.Background())
	if err != nil || *releases["sim"] != "v2" {
		t.Errorf("%v, %v", releases, err)
	}
	if diff := cmp.Diff([]string{"/api/v1/latest-images", "/api/v1/framework-releases"}, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// A feed that could not be read has the code of one that is invalid.
func TestUnreadFeedHasTheCodeToo(t *testing.T) {
	srv := httptest.NewServer(say(403, "application/json", `{"error":"no"}`))
	defer srv.Close()
	c := &Client{Base: srv.URL}
	_, images := c.ImageFeed(context.Background())
	_, releases := c.ReleaseFeed(context.Background())
	for code, err := range map[string]error{LatestImagesInvalid: images, FrameworkReleasesInvalid: releases} {
		var feed *FeedError
		if !errors.As(err, &feed) || feed.Code != code || !strings.Contains(err.Error(), `status 403 Forbidden: "no"`) {
			t.Errorf("got %v, want code %s", err, code)
		}
	}
}
