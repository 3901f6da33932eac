package local

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
)

// user is who calls. An app's token is no user's: GitHub refuses it here, and
// only GraphQL says whose it is.
func (s *Server) user(c call) (answer, error) {
	if isApp(c.login) {
		return answer{}, refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	return ok(s.profile(c.links, c.login))
}

// isApp tells an app by its login.
func isApp(login string) bool { return strings.HasSuffix(login, "[bot]") }

func viewer(c call) any {
	var data struct {
		Viewer struct {
			Login string `json:"login"`
		} `json:"viewer"`
	}
	data.Viewer.Login = c.login
	return data
}

type wireRate struct {
	Limit     int   `json:"limit"`
	Remaining int   `json:"remaining"`
	Used      int   `json:"used"`
	Reset     int64 `json:"reset"`
}

// rateLimit says that there is none worth speaking of.
func (s *Server) rateLimit(call) (answer, error) {
	rate := wireRate{Limit: 1_000_000, Remaining: 1_000_000, Reset: s.now() + 3600}
	var body struct {
		Resources map[string]wireRate `json:"resources"`
		Rate      wireRate            `json:"rate"`
	}
	body.Resources, body.Rate = map[string]wireRate{"core": rate, "graphql": rate, "search": rate}, rate
	return ok(body)
}

func (s *Server) repository(c call) (answer, error) {
	return ok(s.fullRepo(c.links, c.login))
}

// collaborator tells what a user may do. An app is no user, also where it may write.
func (s *Server) collaborator(c call) (answer, error) {
	login, known := c.PathValue("login"), false
	if strings.HasSuffix(login, forge.AppSuffix) {
		return answer{}, refuse(http.StatusNotFound, "%s is not a user", login)
	}
	for _, l := range s.Tokens {
		known = known || l == login
	}
	if _, listed := s.Permissions[login]; !known && !listed {
		return answer{}, refuse(http.StatusNotFound, "%s is not a user", strconv.Quote(login))
	}
	type collaborator struct {
		*wireUser
		Role string `json:"role_name"`
	}
	var body struct {
		Permission string       `json:"permission"`
		Role       string       `json:"role_name"`
		User       collaborator `json:"user"`
	}
	body.Permission = s.permission(login)
	body.Role, body.User = body.Permission, collaborator{c.links.user(login), body.Permission}
	return ok(body)
}
