package local

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	maxBody    = 1 << 20  // bytes of a request
	maxObject  = 48 << 20 // of one that carries a blob
	maxText    = 65536    // characters of a body or comment, as on GitHub
	docsURL    = "https://docs.github.com/rest"
	apiRoot    = "/api/v3"
	graphqlURL = "/api/graphql"
)

// A call is one request with who sent it.
type call struct {
	*http.Request
	login string
	links links
}

// An actor is who does something, and how addresses are written for him.
type actor struct {
	login string
	links links
}

func (c call) actor() actor { return actor{login: c.login, links: c.links} }

// An answer is what a handler returns: a status and something to write as JSON,
// or raw bytes with their type.
type answer struct {
	status int
	body   any
	raw    []byte
	mime   string
	link   string // Link header

	location string // of a redirect
}

func ok(body any) (answer, error)      { return answer{status: http.StatusOK, body: body}, nil }
func created(body any) (answer, error) { return answer{status: http.StatusCreated, body: body}, nil }

// need is the right that a route asks for.
type need int

const (
	nothing need = iota // also without a token
	reading
	commenting // a write that readers may do
	writing
)

// A route is one operation of the API. The kind names it in the event log.
type route struct {
	pattern string // method and path below the API root
	kind    string
	need    need
	do      func(call) (answer, error)
}

// Handler serves /api/v3/ and /api/graphql.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		method, path, _ := strings.Cut(r.pattern, " ")
		if path != graphqlURL && !strings.HasPrefix(path, storageRoot) {
			path = apiRoot + path
		}
		mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, req *http.Request) { s.serve(w, req, r) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) { s.reply(w, answer{}, errNotFound) })
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if err := guard(req); err != nil {
			s.reply(w, answer{}, err)
			return
		}
		mux.ServeHTTP(w, req)
	})
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request, r route) {
	c := call{Request: req}
	err := s.admit(&c, r)
	if err == nil {
		c.links, err = s.linksFor(req.Context(), req)
	}
	if err != nil {
		s.reply(w, answer{}, err)
		return
	}
	if c.login != "" && !isApp(c.login) { // a user's token is a classic one, with every right that its owner has
		w.Header().Set("X-OAuth-Scopes", "repo")
	}
	limit := int64(maxBody)
	if strings.HasPrefix(r.kind, "object.") {
		limit = maxObject
	}
	req.Body = http.MaxBytesReader(w, req.Body, limit)
	if r.need >= commenting {
		if err := c.fetch(); err != nil {
			s.reply(w, answer{}, err)
			return
		}
		s.writes.Lock()
		defer s.writes.Unlock()
	}
	a, err := r.do(c)
	if err == nil && r.need >= commenting {
		err = s.record(req.Context(), s.db, c.login, r.kind, strings.TrimPrefix(req.URL.Path, apiRoot+"/repos/"+s.Repository))
	}
	s.reply(w, a, err)
}

func (s *Server) reply(w http.ResponseWriter, a answer, err error) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if err != nil {
		a = s.problem(err)
	}
	if a.link != "" {
		h.Set("Link", a.link)
	}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	switch {
	case a.raw != nil:
		h.Set("Content-Type", a.mime)
		w.WriteHeader(a.status)
		w.Write(a.raw)
	case a.body == nil:
		w.WriteHeader(a.status)
	default:
		h.Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(a.status)
		json.NewEncoder(w).Encode(a.body)
	}
}

// fetch reads the whole body: nobody else waits for a sender who takes his time,
// because the lock is taken only when everything is here.
func (c call) fetch() error {
	data, err := io.ReadAll(c.Body)
	c.Request.Body = io.NopCloser(bytes.NewReader(data))
	return err
}

// read decodes a request's JSON; unknown keys are fine, as on GitHub.
func (c call) read(v any) error {
	data, err := io.ReadAll(c.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	return nil
}

// rawJSON keeps a value whose form is seen later.
type rawJSON []byte

// UnmarshalJSON copies the value.
func (r *rawJSON) UnmarshalJSON(data []byte) error {
	*r = append((*r)[:0], data...)
	return nil
}

func (r rawJSON) decode(v any) error { return json.Unmarshal(r, v) }

// number reads a numeric path element; anything else is a 404.
func (c call) number(name string) (int64, error) {
	n, err := strconv.ParseInt(c.PathValue(name), 10, 64)
	if err != nil {
		return 0, errNotFound
	}
	return n, nil
}
