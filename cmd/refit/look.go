package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

// look opens the workspace and its embedded parts like attach, for a command
// that only looks: hosted here, the forge starts no workflow run.
func look(cmd *cobra.Command, e env) (*server.Parts, error) {
	return opened(cmd, e, server.Look)
}

// looking is moving for a command that only looks.
func looking(cmd *cobra.Command, e env, name string, do func(context.Context, *server.Parts, *candidate.Shepherd, candidate.Candidate) error) (err error) {
	p, err := look(cmd, e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	s, err := p.Shepherd(nil)
	if err != nil {
		return err
	}
	c, err := s.Find(cmd.Context(), name) // it may be another machine's: only the forge knows it then
	if err != nil {
		return err
	}
	return do(cmd.Context(), p, s, c)
}
