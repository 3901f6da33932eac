package local

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// A problem is an answer that says no.
type problem struct {
	Status  int           `json:"-"`
	Message string        `json:"message"`
	Errors  []fieldReason `json:"errors,omitempty"`
	Docs    string        `json:"documentation_url"`
	Text    string        `json:"status"`
}

type fieldReason struct {
	Resource string `json:"resource"`
	Field    string `json:"field,omitempty"`
	Code     string `json:"code"`
	Message  string `json:"message,omitempty"`
}

func (p *problem) Error() string { return p.Message }

var errNotFound = refuse(http.StatusNotFound, "Not Found")

func refuse(status int, format string, args ...any) *problem {
	return &problem{Status: status, Message: fmt.Sprintf(format, args...), Docs: docsURL, Text: strconv.Itoa(status)}
}

// invalid is GitHub's validation failure with one reason.
func invalid(resource, field, code, format string, args ...any) *problem {
	p := refuse(http.StatusUnprocessableEntity, "Validation Failed")
	p.Errors = []fieldReason{{Resource: resource, Field: field, Code: code, Message: fmt.Sprintf(format, args...)}}
	return p
}

// problem turns an error into an answer; what went wrong inside stays in the log.
func (s *Server) problem(err error) answer {
	var p *problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		p = refuse(http.StatusRequestEntityTooLarge, "Request body too large")
	case !errors.As(err, &p):
		s.logf("error: %v", err)
		p = refuse(http.StatusInternalServerError, "Server Error")
	}
	return answer{status: p.Status, body: p}
}
