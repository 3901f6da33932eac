package image

import (
	"errors"
	"net"
	"net/http"
	"net/url"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Unreachable reports whether an error of a Library says that the registry gave
// no answer, or none that is about the image: it is down, or asks for patience.
func Unreachable(err error) bool {
	var said *transport.Error
	if errors.As(err, &said) {
		return said.StatusCode >= http.StatusInternalServerError || said.StatusCode == http.StatusTooManyRequests
	}
	var call *url.Error
	var wire net.Error
	return errors.As(err, &call) || errors.As(err, &wire)
}
