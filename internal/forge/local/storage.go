package local

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

// GitHub sends no archive and no log from its API: it answers with a signed
// address of a storage host, which asks for no credential and soon ends. Here
// the same listener is that host.
const (
	storageRoot  = "/storage/"
	storageValid = 60 // seconds
)

// stored answers with the signed address of something. It names no host, so
// that a client stays with the one it knows this server by.
func (s *Server) stored(kind string, id int64) (answer, error) {
	name, until := fmt.Sprintf("%s/%d", kind, id), strconv.FormatInt(s.now()+storageValid, 10)
	query := url.Values{"until": {until}, "signature": {s.signature(name, until)}}
	return answer{status: http.StatusFound, location: storageRoot + name + "?" + query.Encode()}, nil
}

func (s *Server) signature(name, until string) string {
	h := hmac.New(sha256.New, s.key[:])
	fmt.Fprintf(h, "%s %s", name, until)
	return hex.EncodeToString(h.Sum(nil))
}

// signed holds a request to the signature of its address.
func (s *Server) signed(c call, name string) error {
	q := c.URL.Query()
	until, err := strconv.ParseInt(q.Get("until"), 10, 64)
	if err != nil || !hmac.Equal([]byte(q.Get("signature")), []byte(s.signature(name, q.Get("until")))) {
		return refuse(http.StatusForbidden, "Signature did not match")
	}
	if s.now() > until {
		return refuse(http.StatusForbidden, "Signature is no longer valid")
	}
	return nil
}

// storedArtifact sends the archive itself.
func (s *Server) storedArtifact(c call) (answer, error) {
	if err := s.signed(c, "artifacts/"+c.PathValue("id")); err != nil {
		return answer{}, err
	}
	a, err := s.artifactNumbered(c)
	if err != nil {
		return answer{}, err
	}
	data, err := os.ReadFile(s.artifactFile(a))
	if errors.Is(err, fs.ErrNotExist) {
		return answer{}, errExpired
	}
	return answer{status: http.StatusOK, raw: data, mime: "application/zip"}, err
}

// storedLog sends the run's log as text.
func (s *Server) storedLog(c call) (answer, error) {
	if err := s.signed(c, "logs/"+c.PathValue("id")); err != nil {
		return answer{}, err
	}
	r, err := s.runNumbered(c)
	if err != nil {
		return answer{}, err
	}
	data, err := tail(filepath.Join(s.runDir(r), "log.txt"), maxLog)
	if errors.Is(err, fs.ErrNotExist) {
		return answer{}, errNotFound
	}
	return answer{status: http.StatusOK, raw: data, mime: "text/plain; charset=utf-8"}, err
}
