package image

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// A registry that is down says nothing about an image; one that refuses or does
// not know it does.
func TestUnreachable(t *testing.T) {
	for code, want := range map[int]bool{
		http.StatusInternalServerError: true, http.StatusServiceUnavailable: true, http.StatusTooManyRequests: true,
		http.StatusUnauthorized: false, http.StatusForbidden: false, http.StatusNotFound: false,
	} {
		err := fmt.Errorf("image x: %w", &transport.Error{StatusCode: code})
		if Unreachable(err) != want {
			t.Errorf("%d: unreachable %v, want %v", code, !want, want)
		}
	}
	silent := &url.Error{Op: "Get", URL: "https://registry.invalid/v2/", Err: syscall.ECONNREFUSED}
	if !Unreachable(fmt.Errorf("tags of x: %w", silent)) {
		t.Error("nobody listens: want unreachable")
	}
	if Unreachable(fmt.Errorf("image: %w", ErrNotFound)) || Unreachable(errors.New("no such file")) || Unreachable(nil) {
		t.Error("what is not of a registry is unreachable")
	}
}

// An image that a living registry does not have is the image's own affair.
func TestAMissingImageIsNotUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	ref, err := Parse(strings.TrimPrefix(server.URL, "http://") + "/toy/loom:v1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = (Library{}).Resolve(t.Context(), ref); !errors.Is(err, ErrNotFound) || Unreachable(err) {
		t.Errorf("got %v, want that it is not found", err)
	}
}
