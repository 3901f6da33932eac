package image

import (
	"fmt"
	"regexp"
	"strings"
)

// Ref names an image. Registry is "" for the default registry. At least one of
// Tag and Digest is set; with both, the digest decides.
type Ref struct{ Registry, Repository, Tag, Digest string }

var (
	hostForm       = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?$`)
	repositoryForm = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagForm        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestForm     = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Parse reads "registry/repository:tag@digest" and the spelling
// "registry#repository:tag" of enroot, with or without "docker://". Both
// spellings, and the several names of the default registry, give equal values.
// It rejects "latest" and a missing tag where no digest is given either,
// because they name a moment rather than an image.
func Parse(s string) (Ref, error) {
	rest, digest, hasDigest := strings.Cut(strings.TrimPrefix(s, "docker://"), "@")
	if i := strings.Index(rest, ":sha256:"); i >= 0 && !hasDigest {
		rest, digest, hasDigest = rest[:i], rest[i+1:], true
	}
	tag := ""
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexAny(rest, "/#") {
		rest, tag = rest[:i], rest[i+1:]
		if !tagForm.MatchString(tag) {
			return Ref{}, fmt.Errorf("image %q: %q is no tag", s, tag)
		}
	}
	if hasDigest && !digestForm.MatchString(digest) {
		return Ref{}, fmt.Errorf("image %q: %q is no digest (want sha256: and 64 hex digits)", s, digest)
	}
	registry, repository, err := splitRepository(rest)
	if err != nil {
		return Ref{}, fmt.Errorf("image %q: %w", s, err)
	}
	switch {
	case digest == "" && tag == "":
		return Ref{}, fmt.Errorf("image %q: neither tag nor digest", s)
	case digest == "" && tag == "latest":
		return Ref{}, fmt.Errorf("image %q: latest names a moment, not an image", s)
	}
	return Ref{registry, repository, tag, digest}, nil
}

// Name is "registry/repository", the registry only when it is not the default.
func (r Ref) Name() string {
	if r.Registry == "" {
		return r.Repository
	}
	return r.Registry + "/" + r.Repository
}

// String is "registry/repository:tag@digest" without the parts that are empty.
func (r Ref) String() string { return r.suffixed(r.Name()) }

// Like is String in the spelling of another reference: "registry#repository"
// where that one has it.
func (r Ref) Like(other string) string {
	if r.Registry == "" || !strings.Contains(other, "#") {
		return r.String()
	}
	return r.suffixed(r.Registry + "#" + r.Repository)
}

func (r Ref) suffixed(name string) string {
	if r.Tag != "" {
		name += ":" + r.Tag
	}
	if r.Digest != "" {
		name += "@" + r.Digest
	}
	return name
}

// hostLike tells a registry from the first part of a repository.
func hostLike(s string) bool { return strings.ContainsAny(s, ".:") || s == "localhost" }

// splitRepository parts registry and repository. Without "#" the first part is
// a registry when it looks like a host.
func splitRepository(s string) (registry, repository string, err error) {
	registry, repository, ok := strings.Cut(s, "#")
	if !ok {
		registry, repository = "", s
		if first, rest, ok := strings.Cut(s, "/"); ok && hostLike(first) {
			registry, repository = first, rest
		}
	} else if !hostLike(registry) { // the spelling with a slash would be another reference
		return "", "", fmt.Errorf("no registry before #: want a name with a dot or a port, or localhost, got %q", registry)
	}
	if registry != "" && !hostForm.MatchString(registry) {
		return "", "", fmt.Errorf("%q is no registry", registry)
	}
	if !repositoryForm.MatchString(repository) || len(repository) > 255 {
		return "", "", fmt.Errorf("%q is no repository", repository)
	}
	switch registry {
	case "docker.io", "index.docker.io", "registry-1.docker.io":
		registry = ""
	}
	if one, ok := strings.CutPrefix(repository, "library/"); ok && registry == "" && !strings.Contains(one, "/") {
		repository = one
	}
	return registry, repository, nil
}
