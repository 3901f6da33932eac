package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

// ErrRunning says that another process serves this workspace's embedded parts.
var ErrRunning = errors.New("another process serves this workspace")

// Host is the one process that serves a workspace's embedded parts: the forge,
// the registry, the results API with the dashboard, and the jobs that the
// forge's workflow runs start. It holds .refit/serve.lock while it lives.
type Host struct {
	Workspace *workspace.Workspace
	Refit     string    // path of this binary, for the jobs it starts
	Log       io.Writer // progress of workflow runs
	Now       func() time.Time
	Looks     bool // only to look: no workflow run starts, what is queued stays so

	Address Address
	Store   *store.Store

	lock      *workspace.Lock
	forge     *local.Server
	listeners []net.Listener
	servers   []*http.Server
	silent    silent
	closed    bool
	token     string
	lately    lately
}

// Address is where the embedded parts listen: the content of .refit/serve.json.
type Address struct {
	Forge     string `json:"forge"`           // base URL of the GitHub-compatible API
	Registry  string `json:"registry"`        // host:port of the OCI registry
	Dashboard string `json:"dashboard"`       // base URL of dashboard and results API
	Holder    string `json:"holder"`          // process:<machine>:<boot>:<pid>:<start>
	Looks     bool   `json:"looks,omitempty"` // no workflow run starts there: its process only looks, and ends soon
}

// Start takes the lock, opens the parts and listens on loopback, on the ports
// of the last time when they are free. It returns ErrRunning when another
// process holds the lock.
func (h *Host) Start(ctx context.Context) error {
	if err := errors.Join(supported(h.Workspace), checkSource(ctx, h.Workspace)); err != nil {
		return err
	}
	return h.begin(ctx, func() (err error) {
		if h.token, err = ensureToken(h.Workspace.State("token")); err != nil {
			return err
		}
		bare, err := ensureBare(ctx, h.Workspace)
		if err != nil {
			return err
		}
		return h.listen(ctx, bare)
	})
}

// begin takes the lock and opens the store for what rest then serves. Nothing
// stays open when it fails.
func (h *Host) begin(ctx context.Context, rest func() error) (err error) {
	if err := h.Workspace.EnsureState(); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if err := checkRoom(h.Workspace); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	lock, ok, err := workspace.TryLock(h.Workspace.State("serve.lock"))
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if !ok {
		return ErrRunning
	}
	h.lock = lock
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if h.Store, err = store.Open(ctx, h.Workspace.State("store.db")); err != nil {
		return err
	}
	return rest()
}

// bind listens on loopback, near the addresses of the last time.
func (h *Host) bind(former ...string) error {
	for _, f := range former {
		l, err := listenNear(f)
		if err != nil {
			return err
		}
		h.listeners = append(h.listeners, l)
	}
	return nil
}

// listen binds every part, opens the forge and writes serve.json last: whoever
// reads it finds everything answering.
func (h *Host) listen(ctx context.Context, bare workspace.Repo) error {
	last, _ := ReadAddress(h.Workspace) // missing or broken: any ports
	if err := h.bind(last.Forge, "http://"+last.Registry, last.Dashboard); err != nil {
		return err
	}
	h.Address.Forge = "http://" + h.listeners[0].Addr().String()
	login, person := login(h.Workspace.Config), maintainer(h.Workspace.Config)
	personal, err := ensureToken(h.Workspace.State(maintainerToken))
	if err != nil {
		return err
	}
	h.forge = &local.Server{
		Repository:  repository(h.Workspace.Config),
		Git:         bare,
		DB:          h.Workspace.State("forge.db"),
		Tokens:      map[string]string{h.token: login, personal: person},
		Permissions: map[string]string{login: "admin", person: "write"},
		ArtifactDir: h.Workspace.State("artifacts"),
		Now:         h.Now,
		Run:         h.runs(),
		Log:         h.Log,
		BaseURL:     h.Address.Forge,
	}
	h.address(h.listeners[1], h.listeners[2])
	if err := h.forge.Open(ctx); err != nil {
		return err
	}
	h.serve(h.listeners[0], h.forge.Handler())
	return h.answer(h.listeners[1], h.listeners[2])
}

func (h *Host) address(registry, board net.Listener) {
	h.Address.Registry = registry.Addr().String()
	h.Address.Dashboard = "http://" + board.Addr().String()
	h.Address.Holder = workspace.Process().String()
	h.Address.Looks = h.Looks
}

// answer serves registry and dashboard, and says where everything is.
func (h *Host) answer(registry, board net.Listener) error {
	h.serve(registry, onlyLoopback(image.Handler(imageDir(h.Workspace))))
	h.serve(board, onlyLoopback(h.pages()))
	data, err := json.MarshalIndent(h.Address, "", "  ")
	if err != nil {
		return err
	}
	return workspace.WriteFile(h.Workspace.State("serve.json"), append(data, '\n'), 0o600)
}

func (h *Host) serve(l net.Listener, handler http.Handler) {
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16, ConnState: h.silent.watch}
	h.servers = append(h.servers, s)
	go s.Serve(l) // ends with Close; its only error is that
}

// Wait blocks until the forge has no workflow run left.
func (h *Host) Wait() { h.forge.Wait() }

// hangUp lets the answers that are being given end, for some seconds, and cuts
// what then still talks. A connection on which nothing was asked yet ends at once.
func (h *Host) hangUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	h.silent.end()
	var errs []error
	for _, s := range h.servers {
		err := s.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = s.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Close stops serving, then the forge and its running job, then the store, and
// gives the lock back. It may be called after a Start that failed, and again.
func (h *Host) Close() error {
	if h.closed {
		return nil
	}
	h.closed = true
	errs := []error{h.hangUp()}
	for _, l := range h.listeners {
		_ = l.Close() // closed already, unless the start failed before it served
	}
	if h.forge != nil {
		errs = append(errs, h.forge.Close())
	}
	if h.Store != nil {
		errs = append(errs, h.Store.Close())
	}
	if h.lock != nil {
		errs = append(errs, h.lock.Close())
	}
	return errors.Join(errs...)
}

// ReadAddress reads .refit/serve.json. It may be stale: its holder tells.
func ReadAddress(w *workspace.Workspace) (Address, error) {
	data, err := workspace.ReadFile(w.State("serve.json"), 1<<16)
	if err != nil {
		return Address{}, err
	}
	a, err := parseAddress(data)
	if err != nil {
		return Address{}, fmt.Errorf("%s: %w", w.State("serve.json"), err)
	}
	return a, nil
}

// parseAddress accepts loopback addresses only: a token goes there.
func parseAddress(data []byte) (Address, error) {
	var a Address
	if err := json.Unmarshal(data, &a); err != nil {
		return Address{}, err
	}
	for _, at := range []string{a.Forge, "http://" + a.Registry, a.Dashboard} {
		if u, err := url.Parse(at); err != nil || u.Scheme != "http" || !forge.Loopback(u.Host) {
			return Address{}, fmt.Errorf("%.80q is no address on loopback", at)
		}
	}
	if _, err := workspace.ParseHolder(a.Holder); err != nil {
		return Address{}, err
	}
	return a, nil
}

func imageDir(w *workspace.Workspace) string {
	dir := w.Config.Images.Path
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(w.Root, dir)
}

// listenNear listens on the port of a former address, or on any free one.
func listenNear(former string) (net.Listener, error) {
	if host := hostOf(former); host != "" {
		if l, err := net.Listen("tcp", host); err == nil {
			return l, nil
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	return l, nil
}
