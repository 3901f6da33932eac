package local

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
)

// guard keeps out pages of other sites: names that do not mean this machine
// (rebinding), foreign origins, and bodies that a form could send.
func guard(req *http.Request) error {
	if !forge.Loopback(req.Host) {
		return refuse(http.StatusForbidden, "Host not allowed")
	}
	if from := req.Header.Get("Origin"); from != "" {
		if u, err := url.Parse(from); err != nil || !forge.Loopback(u.Host) {
			return refuse(http.StatusForbidden, "Origin not allowed")
		}
	}
	if readOnly(req.Method) || req.ContentLength == 0 {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	}
	return nil
}

func readOnly(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// admit finds the caller and holds his rights against the route's need.
func (s *Server) admit(c *call, r route) error {
	token, given := credential(c.Request)
	if given {
		if c.login = s.login(token); c.login == "" {
			return refuse(http.StatusUnauthorized, "Bad credentials")
		}
	}
	if r.need > nothing && c.login == "" {
		return refuse(http.StatusUnauthorized, "Requires authentication")
	}
	if owner := c.PathValue("owner"); owner != "" && !strings.EqualFold(owner+"/"+c.PathValue("repo"), s.Repository) {
		return errNotFound
	}
	if c.PathValue("owner") != "" && s.permission(c.login) == "none" {
		return errNotFound // GitHub does not tell that it is there
	}
	if r.need == writing && !s.mayWrite(c.login) {
		return refuse(http.StatusForbidden, "Must have write access to %s", s.Repository)
	}
	return nil
}

func (s *Server) mayWrite(login string) bool {
	p := s.permission(login)
	return p == "admin" || p == "write"
}

// permission of a login that holds a token; a login not listed may read.
func (s *Server) permission(login string) string {
	if p := s.Permissions[login]; p != "" {
		return p
	}
	return "read"
}

// credential reads "Bearer x", "token x" or a basic password.
func credential(req *http.Request) (string, bool) {
	header := req.Header.Get("Authorization")
	if header == "" {
		return "", false
	}
	if _, password, ok := req.BasicAuth(); ok {
		return password, true
	}
	scheme, token, _ := strings.Cut(header, " ")
	if strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "token") {
		return strings.TrimSpace(token), true
	}
	return "", true
}

// login looks a token up in time that does not depend on it.
func (s *Server) login(token string) string {
	given, login := sha256.Sum256([]byte(token)), ""
	for t, l := range s.Tokens {
		want := sha256.Sum256([]byte(t))
		if subtle.ConstantTimeCompare(given[:], want[:]) == 1 && t != "" {
			login = l
		}
	}
	return login
}
