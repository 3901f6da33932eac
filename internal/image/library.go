package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/refit-bench/refit/internal/workspace"
)

// Library is where images are found: an OCI layout, or a registry when Layout
// is empty. Registry is the host of references that name none themselves.
// Registries speak HTTPS; plain HTTP is for loopback only. Keychain nil is
// anonymous.
type Library struct {
	Layout   string
	Registry string
	Keychain authn.Keychain
}

// Resolve finds the image that a reference names. Where there is none the
// error is ErrNotFound and names the nearest tags.
func (l Library) Resolve(ctx context.Context, ref Ref) (Image, error) {
	if ref.Tag == "" && ref.Digest == "" {
		return Image{}, fmt.Errorf("image %s: neither tag nor digest", ref)
	}
	if l.Layout == "" {
		return l.resolveRemote(ctx, ref)
	}
	d, ok, err := layoutFind(l.Layout, ref)
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", ref, err)
	}
	if !ok {
		return Image{}, l.notFound(ctx, ref)
	}
	return layoutOpen(l.Layout, ref, d)
}

// Tags lists the tags of a repository, sorted as text. A repository that does
// not exist is ErrNotFound.
func (l Library) Tags(ctx context.Context, repository string) ([]string, error) {
	registry, path, err := splitRepository(repository)
	if err != nil {
		return nil, fmt.Errorf("tags of %q: %w", repository, err)
	}
	ref := Ref{Registry: registry, Repository: path}
	if l.Layout != "" {
		tags, err := layoutTags(l.Layout, ref.Name())
		if err == nil && len(tags) == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("tags of %s: %w", repository, err)
		}
		return tags, nil
	}
	repo, err := l.repository(ref)
	if err != nil {
		return nil, fmt.Errorf("tags of %s: %w", repository, err)
	}
	ctx, cancel := context.WithCancel(ctx) // ends also an answer that was not read to its end
	defer cancel()
	limits := remote.WithTransport(&budget{patient(), maxListing, maxRequests})
	tags, err := remote.List(repo, append(l.options(ctx), limits)...)
	if err != nil {
		return nil, fmt.Errorf("tags of %s: %w", repository, missing(err))
	}
	slices.Sort(tags)
	return tags, nil
}

func (l Library) resolveRemote(ctx context.Context, ref Ref) (Image, error) {
	repo, err := l.repository(ref)
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", ref, err)
	}
	var at name.Reference = repo.Tag(ref.Tag)
	if ref.Digest != "" {
		at = repo.Digest(ref.Digest)
	}
	desc, err := remote.Get(at, l.options(ctx)...)
	if err != nil {
		if err = missing(err); errors.Is(err, ErrNotFound) {
			return Image{}, l.notFound(ctx, ref)
		}
		return Image{}, fmt.Errorf("image %s: %w", ref, err)
	}
	img, err := desc.Image()
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", ref, err)
	}
	digest, err := img.Digest()
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", ref, err)
	}
	return open(ref, desc.Digest.String(), img, digest)
}

// repository is where a reference lives for the registry client.
func (l Library) repository(ref Ref) (name.Repository, error) {
	host := cmp.Or(ref.Registry, l.Registry, name.DefaultRegistry)
	var options []name.Option
	if loopback(host) {
		options = append(options, name.Insecure)
	}
	registry, err := name.NewRegistry(host, options...)
	if err != nil {
		return name.Repository{}, err
	}
	path := ref.Repository
	if host == name.DefaultRegistry && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	return registry.Repo(path), nil
}

func (l Library) options(ctx context.Context) []remote.Option {
	keys := l.Keychain
	if keys == nil {
		keys = authn.NewMultiKeychain() // knows nobody: anonymous
	}
	return []remote.Option{
		remote.WithContext(ctx),
		remote.WithAuthFromKeychain(keys),
		remote.WithTransport(patient()),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}),
		remote.WithUserAgent("refit"),
	}
}

// patient is the way to a registry, which may be slow but not silent.
func patient() http.RoundTripper {
	return guarded{&http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: 60 * time.Second,
		IdleConnTimeout:       30 * time.Second,
		ForceAttemptHTTP2:     true,
	}}
}

// notFound explains what was looked for and what is there.
func (l Library) notFound(ctx context.Context, ref Ref) error {
	tags, err := l.Tags(ctx, ref.Name())
	if err != nil {
		return fmt.Errorf("image %s: %w (no tags of %s either)", ref, ErrNotFound, ref.Name())
	}
	return fmt.Errorf("image %s: %w (nearest tags: %s)", ref, ErrNotFound, strings.Join(nearest(tags, ref.Tag), ", "))
}

// nearest are up to three tags: the spelling closest to want, then its lane
// from the newest down, then any.
func nearest(tags []string, want string) []string {
	_, lane, ok := Lane(want)
	inLane := func(tag string) int {
		if _, l, is := Lane(tag); ok && is && l == lane {
			return 0
		}
		return 1
	}
	list := slices.SortedFunc(slices.Values(tags), func(a, b string) int {
		if c := cmp.Compare(inLane(a), inLane(b)); c != 0 {
			return c
		}
		v, _ := ParseVersion(a)
		w, _ := ParseVersion(b)
		c, _ := w.Compare(v)
		return cmp.Or(c, strings.Compare(b, a))
	})
	if close := workspace.Closest(want, list); close != "" {
		list = append([]string{close}, slices.DeleteFunc(list, func(t string) bool { return t == close })...)
	}
	return list[:min(3, len(list))]
}

// missing turns the registry's 404 into ErrNotFound.
func missing(err error) error {
	var answer *transport.Error
	if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%w: %v", ErrNotFound, err)
	}
	return err
}

// guarded refuses plain HTTP to anything but this machine.
type guarded struct{ next http.RoundTripper }

func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !loopback(r.URL.Host) {
		return nil, fmt.Errorf("plain http to %s: only loopback may", r.URL.Host)
	}
	return g.next.RoundTrip(r)
}

func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
