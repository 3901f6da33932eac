package image

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Handler serves an OCI layout as a registry, read only: /v2/ with manifests
// by tag and digest, blobs and tag lists. The layout is read anew for each
// request. Content that is not what its digest says is not served.
func Handler(layoutDir string) http.Handler {
	return &registry{dir: layoutDir, sound: map[string]os.FileInfo{}}
}

type registry struct {
	dir string

	mu    sync.Mutex
	sound map[string]os.FileInfo // blobs whose content was checked, as they were
}

// refusal is an answer in the registry's error form.
type refusal struct {
	status        int
	code, message string
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, refusal{http.StatusMethodNotAllowed, "UNSUPPORTED", "this registry is read only"})
		return
	}
	if no := r.serve(w, q); no != nil {
		refuse(w, *no)
	}
}

func refuse(w http.ResponseWriter, no refusal) {
	answer(w, no.status, map[string]any{"errors": []any{map[string]string{"code": no.code, "message": no.message}}})
}

func answer(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic("an answer of texts and lists does not marshal: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	w.Write(text)
}

func (r *registry) serve(w http.ResponseWriter, q *http.Request) *refusal {
	rest, ok := strings.CutPrefix(q.URL.Path, "/v2")
	if ok && (rest == "" || rest == "/") {
		answer(w, http.StatusOK, map[string]any{})
		return nil
	}
	unknown := &refusal{http.StatusNotFound, "NAME_UNKNOWN", "no such path"}
	part := strings.Split(strings.TrimPrefix(rest, "/"), "/")
	if !ok || len(part) < 3 {
		return unknown
	}
	name, kind, last := strings.Join(part[:len(part)-2], "/"), part[len(part)-2], part[len(part)-1]
	if !repositoryForm.MatchString(name) {
		return &refusal{http.StatusBadRequest, "NAME_INVALID", fmt.Sprintf("%q is no repository", name)}
	}
	tags, err := layoutTags(r.dir, name)
	if err != nil {
		return broken(err)
	}
	if len(tags) == 0 {
		return &refusal{http.StatusNotFound, "NAME_UNKNOWN", "no such repository: " + name}
	}
	switch kind {
	case "tags":
		if last != "list" {
			return unknown
		}
		return r.tags(w, q, name, tags)
	case "manifests":
		return r.manifest(w, q, name, last)
	case "blobs":
		return r.blob(w, q, last)
	}
	return unknown
}

// tags answers in pages when asked with n and last.
func (r *registry) tags(w http.ResponseWriter, q *http.Request, name string, tags []string) *refusal {
	if last := q.URL.Query().Get("last"); last != "" {
		tags = slices.DeleteFunc(tags, func(t string) bool { return t <= last })
	}
	if text := q.URL.Query().Get("n"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return &refusal{http.StatusBadRequest, "PAGINATION_NUMBER_INVALID", "n is no number"}
		}
		if n > 0 && n < len(tags) {
			tags = tags[:n]
			w.Header().Set("Link", fmt.Sprintf(`</v2/%s/tags/list?n=%d&last=%s>; rel="next"`, name, n, tags[n-1]))
		}
	}
	answer(w, http.StatusOK, map[string]any{"name": name, "tags": tags})
	return nil
}

func (r *registry) manifest(w http.ResponseWriter, q *http.Request, name, at string) *refusal {
	unknown := &refusal{http.StatusNotFound, "MANIFEST_UNKNOWN", "no manifest " + at + " in " + name}
	hash, err := v1.NewHash(at)
	if !digestForm.MatchString(at) || err != nil {
		if !tagForm.MatchString(at) {
			return &refusal{http.StatusBadRequest, "TAG_INVALID", fmt.Sprintf("%q is neither tag nor digest", at)}
		}
		desc, ok, err := layoutFind(r.dir, Ref{Repository: name, Tag: at})
		if err != nil {
			return broken(err)
		}
		if !ok {
			return unknown
		}
		hash = desc.Digest
	}
	f, _, err := r.open(hash)
	if err != nil {
		return absent(err, unknown)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return broken(err)
	}
	kind := mediaType(text)
	if len(text) > maxConfig || kind == "" {
		return unknown // a blob that is no manifest
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Docker-Content-Digest", hash.String())
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if q.Method == http.MethodGet {
		w.Write(text)
	}
	return nil
}

// mediaType is the type of a manifest, which may leave it unsaid, or "".
func mediaType(text []byte) string {
	var m struct {
		MediaType string `json:"mediaType"`
		Layers    []any  `json:"layers"`
		Manifests []any  `json:"manifests"`
	}
	switch {
	case json.Unmarshal(text, &m) != nil:
		return ""
	case m.MediaType == "" && m.Layers != nil:
		return string(types.OCIManifestSchema1)
	case m.MediaType == "" && m.Manifests != nil:
		return string(types.OCIImageIndex)
	}
	return m.MediaType
}

func (r *registry) blob(w http.ResponseWriter, q *http.Request, at string) *refusal {
	hash, err := v1.NewHash(at)
	if !digestForm.MatchString(at) || err != nil {
		return &refusal{http.StatusBadRequest, "DIGEST_INVALID", fmt.Sprintf("%q is no digest", at)}
	}
	f, info, err := r.open(hash)
	if err != nil {
		return absent(err, &refusal{http.StatusNotFound, "BLOB_UNKNOWN", "no blob " + at})
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Docker-Content-Digest", at)
	w.Header().Set("Etag", strconv.Quote(at))
	http.ServeContent(w, q, "", info.ModTime(), f)
	return nil
}

var errContent = errors.New("content does not match its digest")

// open opens a blob whose content was checked, now or when it last changed.
func (r *registry) open(h v1.Hash) (*os.File, os.FileInfo, error) {
	path := filepath.Join(r.dir, "blobs", h.Algorithm, h.Hex)
	if named, err := os.Lstat(path); err != nil || !named.Mode().IsRegular() {
		return nil, nil, errors.Join(fs.ErrNotExist, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = r.check(h, f, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func (r *registry) check(h v1.Hash, f *os.File, info os.FileInfo) error {
	r.mu.Lock()
	was := r.sound[h.Hex]
	r.mu.Unlock()
	if was != nil && os.SameFile(was, info) && was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) {
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != h.Hex {
		return errContent
	}
	r.mu.Lock()
	r.sound[h.Hex] = info
	r.mu.Unlock()
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// absent tells a blob that is not there, or not what it should be, from trouble.
func absent(err error, unknown *refusal) *refusal {
	switch {
	case errors.Is(err, errContent):
		return &refusal{http.StatusNotFound, unknown.code, err.Error()}
	case errors.Is(err, fs.ErrNotExist):
		return unknown
	}
	return broken(err)
}

// broken keeps the reason to itself: it may hold paths of this machine.
func broken(error) *refusal {
	return &refusal{http.StatusInternalServerError, "UNKNOWN", "the layout cannot be read"}
}
