package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// noForge is what serve.json says where no forge is embedded: an address on
// loopback that nobody can reach.
const noForge = "http://127.0.0.1:0"

// elsewhere says that the workspace's forge is not embedded.
func elsewhere(w *workspace.Workspace) bool { return w.Config.Forge.Kind != "local" }

// startBeside is Start for a workspace whose forge is elsewhere: the store, the
// registry and the dashboard are served, and no workflow run happens here. The
// caller has asked if the configuration is supported.
func (h *Host) startBeside(ctx context.Context) error {
	return h.begin(ctx, func() error {
		last, _ := ReadAddress(h.Workspace) // missing or broken: any ports
		if err := h.bind("http://"+last.Registry, last.Dashboard); err != nil {
			return err
		}
		h.Address.Forge = noForge
		h.address(h.listeners[0], h.listeners[1])
		return h.answer(h.listeners[0], h.listeners[1])
	})
}

// credential reads the token of a forge that is elsewhere, out of the file that
// forge.token-file names and nowhere else: GITHUB_TOKEN, which a workflow run
// has in its environment, cannot start workflow runs. No error shows a byte of it.
func credential(w *workspace.Workspace) (string, error) {
	name := w.Config.Forge.TokenFile
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.Root, name)
	}
	wrong := func(err error) error {
		return fmt.Errorf("%s: forge.token-file: %v", w.Origin("forge.token-file"), err)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", wrong(fmt.Errorf("%s does not exist: put the token of a machine user or an app there, mode 0600", name))
	case err != nil:
		return "", wrong(err)
	case !info.Mode().IsRegular():
		return "", wrong(fmt.Errorf("%s is not a regular file", name))
	}
	data, err := workspace.ReadPrivate(name)
	if err != nil {
		return "", wrong(err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", wrong(fmt.Errorf("%s is empty: put the token of a machine user or an app there", name))
	}
	if !isToken(token) {
		return "", wrong(fmt.Errorf("%s holds something else than one token: it is one word", name))
	}
	return token, nil
}

// isToken says whether a text looks like any kind of token: a header can carry
// it. A pattern with this repetition would cost every start milliseconds.
func isToken(s string) bool {
	odd := func(r rune) bool { return r < '!' || r > '~' }
	return s != "" && len(s) <= 1000 && strings.IndexFunc(s, odd) < 0
}

// webOf is the address for people that belongs to an API: "https://host/api/v3"
// is at "https://host", "https://api.host" at "https://host".
func webOf(url string) string {
	url = strings.TrimSuffix(strings.TrimRight(url, "/"), "/api/v3")
	if host, ok := strings.CutPrefix(url, "https://api."); ok {
		return "https://" + host
	}
	return url
}
