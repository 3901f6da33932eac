package local

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// watched is a body that tells when it is read first.
type watched struct {
	io.ReadCloser
	once    sync.Once
	reading chan struct{}
}

func (w *watched) Read(p []byte) (int, error) {
	w.once.Do(func() { close(w.reading) })
	return w.ReadCloser.Read(p)
}

// A sender whose body never ends keeps nobody else from writing.
func TestASlowBodyHoldsNobodyUp(t *testing.T) {
	w := newWorld(t, nil)
	body, sender := io.Pipe()
	reading := make(chan struct{}) // closed when the forge asks for the body
	slow := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.Body = &watched{ReadCloser: r.Body, reading: reading}
		w.Handler().ServeHTTP(rw, r)
	}))
	defer slow.Close()
	defer sender.Close() // first: a failure leaves no request behind
	req, err := http.NewRequestWithContext(t.Context(), "POST", slow.URL+"/api/v3/repos/owner/recipes/labels", body)
	must(t, err)
	req.Header.Set("Authorization", "token bot-token")
	req.Header.Set("Content-Type", "application/json")
	ended := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode != http.StatusCreated {
				err = &problem{Message: resp.Status}
			}
		}
		ended <- err
	}()
	_, err = io.WriteString(sender, `{"name":`)
	must(t, err)
	<-reading
	w.bot.Patience = 10 * time.Second // it would wait for the slow one for ever
	must(t, w.bot.CreateLabel(t.Context(), "beside", "ededed", ""))
	must(t, w.bot.CreateRef(t.Context(), "heads/beside", w.main))
	select {
	case err := <-ended:
		t.Fatalf("the slow request ended before its body did: %v", err)
	default:
	}
	_, err = io.WriteString(sender, `"late"}`)
	must(t, err)
	must(t, sender.Close())
	must(t, <-ended)
	labels, err := w.bot.Labels(t.Context())
	must(t, err)
	if got := strings.Join(labels, " "); !strings.Contains(got, "beside") || !strings.Contains(got, "late") {
		t.Errorf("labels: got %s, want both", got)
	}
}
