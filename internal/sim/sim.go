// Package sim is a simulated serving engine behind the OpenAI API: it starts
// from a profile and an engine's declared flags, batches continuously in real
// milliseconds on absolute deadlines, and stamps every streamed chunk with the
// time it was sent. It knows nothing of recipes, points or results; what it
// must never do is measure itself.
package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/refit-bench/refit/internal/engine"
)

// ErrDied is what Serve returns when the profile's die-after-requests fault
// struck.
var ErrDied = errors.New("engine worker died")

// DrainTime is how long Serve lets running requests finish after its context
// ended.
const DrainTime = 10 * time.Second

// Config is what a simulated server needs. Args are the engine's own flags,
// parsed against Flags.
type Config struct {
	Profile Profile
	Flags   engine.Model
	Args    []string
	Listen  func(address string) (net.Listener, error)
	Log     io.Writer
	Now     func() time.Time
}

// Server is one simulated engine. Make it with New.
type Server struct {
	config    Config
	settings  Settings
	scheduler *scheduler
	metrics   http.Handler
	boot      string
	created   int64

	ready    atomic.Bool
	draining atomic.Bool
	accepted atomic.Int64 // generation requests, also the source of their ids
	dead     chan struct{}
	die      sync.Once
	streams  sync.WaitGroup
}

// New parses the engine's flags and prepares a server. It returns the
// *engine.RejectError of a rejected command line unchanged.
func New(c Config) (*Server, error) {
	parsed, err := c.Flags.Parse(c.Args)
	if err != nil {
		return nil, err
	}
	settings, err := newSettings(c.Flags, parsed, c.Profile)
	if err != nil {
		return nil, err
	}
	c.Profile = c.Profile.For(settings.ModelPath)
	s := &Server{
		config:    c,
		settings:  settings,
		scheduler: newScheduler(c.Profile, settings, systemClock()),
		boot:      bootID(),
		created:   c.Now().Unix(),
		dead:      make(chan struct{}),
	}
	s.metrics = metricsHandler(s.scheduler)
	return s, nil
}

// Serve binds the port, loads for as long as the profile says, answers until
// ctx ends, and drains. It returns nil after a drain, ErrDied after the fault,
// and the error of the listener when the port could not be bound.
func (s *Server) Serve(ctx context.Context) error {
	s.logArguments()
	listener, err := s.config.Listen(s.settings.Address())
	if err != nil {
		return fmt.Errorf("bind %s: %w", s.settings.Address(), err)
	}
	web := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
	stopped := make(chan struct{})
	schedulerEnded := make(chan struct{})
	go func() { defer close(schedulerEnded); s.scheduler.run(stopped) }()
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	defer func() { close(stopped); <-schedulerEnded }()

	loaded := s.load(ctx, listener.Addr())
	defer func() { <-loaded }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", s.settings.Address(), err)
	case <-s.dead:
		web.Close()
		s.scheduler.abort()
		s.logf("ERROR:    %v after %d requests", ErrDied, s.config.Profile.Faults.DieAfterRequests)
		return ErrDied
	case <-ctx.Done():
		s.drain(web)
		return nil
	}
}

// load becomes ready after the profile's load time; the channel it returns is
// closed when it has stopped trying.
func (s *Server) load(ctx context.Context, address net.Addr) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if s.config.Profile.Faults.NeverReady {
			return
		}
		timer := time.NewTimer(time.Duration(s.config.Profile.Load))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-s.dead:
			return
		case <-timer.C:
		}
		s.ready.Store(true)
		s.logf("INFO:     Application startup complete.")
		s.logf("INFO:     Uvicorn running on http://%s (Press CTRL+C to quit)", address)
	}()
	return done
}

// drain refuses new work, lets running requests finish, and closes.
func (s *Server) drain(web *http.Server) {
	s.logf("INFO:     Shutting down")
	s.draining.Store(true)
	limit, cancel := context.WithTimeout(context.Background(), DrainTime)
	defer cancel()
	finished := make(chan struct{})
	go func() { defer close(finished); web.Shutdown(limit); s.streams.Wait() }()
	select {
	case <-finished:
	case <-limit.Done():
		s.scheduler.abort()
		web.Close()
		<-finished
	}
	s.logf("INFO:     Finished server process")
}

func (s *Server) logf(format string, args ...any) {
	fmt.Fprintf(s.config.Log, format+"\n", args...)
}
