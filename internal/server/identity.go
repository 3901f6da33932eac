package server

import (
	"fmt"
	"os"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// maintainerToken is the file, in .refit, with the token of the embedded forge's
// second login: that of a person, who decides what the first may not decide
// about its own work.
const maintainerToken = "maintainer-token"

// maintainer is that login.
func maintainer(c workspace.Config) string {
	if login(c) == "maintainer" {
		return "owner"
	}
	return "maintainer"
}

// ActAs makes the parts use the credential in a private file from now on.
func (p *Parts) ActAs(file string) error {
	data, err := workspace.ReadPrivate(file)
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if !isToken(token) {
		return fmt.Errorf("token: %s holds none: want one line with the token", file)
	}
	p.token = token
	return nil
}

// parent is the workflow run that claims are made for. The embedded forge's runs
// make none.
func (p *Parts) parent() string {
	if !elsewhere(p.Workspace) {
		return ""
	}
	return parentRun(os.Getenv, repository(p.Workspace.Config))
}

// parentRun is the workflow run that this process is a part of, when it is one
// of the workspace's own repository; "" is none.
// Source: https://docs.github.com/actions/reference/workflows-and-actions/variables
func parentRun(env func(string) string, repository string) string {
	if env("GITHUB_ACTIONS") != "true" || !strings.EqualFold(env("GITHUB_REPOSITORY"), repository) {
		return ""
	}
	return env("GITHUB_RUN_ID")
}
