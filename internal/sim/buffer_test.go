package sim

import (
	"bytes"
	"strings"
	"sync"
)

// lockedBuffer is a log that a test can wait on.
type lockedBuffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	grown chan struct{}
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.grown <- struct{}{}:
	default:
	}
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// waitFor returns when the log holds the text.
func (l *lockedBuffer) waitFor(text string) {
	for !strings.Contains(l.String(), text) {
		<-l.grown
	}
}
