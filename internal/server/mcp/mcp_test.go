package mcp

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/workspace"
)

// connected is a server of an empty folder, and a client of it.
func connected(t *testing.T, ctx context.Context, s *Server) (*sdk.ClientSession, <-chan error) {
	t.Helper()
	s.Workspace = &workspace.Workspace{Root: filepath.Join(t.TempDir(), "ws")}
	s.Now, s.Hint = time.Now, func(error) string { return "start one" }
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.Run(ctx, toServer, fromServer)
		fromServer.Close()
		ended <- err
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, ended
}

func TestTheServerEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, ended := connected(t, ctx, &Server{})
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

func TestTheServerEndsWithItsClient(t *testing.T) {
	session, ended := connected(t, t.Context(), &Server{})
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

// A tool fails with the command's words, and with the advice that goes with them.
func TestAToolFailsWithTheWordsOfTheCommand(t *testing.T) {
	s := &Server{Attach: func(context.Context) (*server.Parts, error) { return nil, errors.New("no forge\nhere\x1b[31m") }}
	session, _ := connected(t, t.Context(), s)
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "doctor"})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := res.Content[0].(*sdk.TextContent)
	if !res.IsError || text == nil || text.Text != "refit: no forge\nhere[31m\nrefit: hint: start one" {
		t.Errorf("got error %v, %+v", res.IsError, text)
	}
}
