package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state/serve.lock")
	l, ok, err := TryLock(path)
	if err != nil || !ok {
		t.Fatalf("TryLock: got %v, %v", ok, err)
	}
	if _, ok, err := TryLock(path); ok || err != nil {
		t.Errorf("second TryLock: got %v, %v, want held", ok, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := WaitLock(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("WaitLock with an ended context: got %v", err)
	}
	got := make(chan error)
	go func() {
		l, err := WaitLock(t.Context(), path)
		if err == nil {
			err = l.Close()
		}
		got <- err
	}()
	if err := l.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-got; err != nil {
		t.Errorf("WaitLock after Close: %v", err)
	}
}

// Who deletes the file must not make two processes holders of two locks.
func TestLockOfADeletedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	old, _, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l, ok, err := TryLock(path)
	if err != nil || !ok {
		t.Fatalf("TryLock after removal: got %v, %v", ok, err)
	}
	if _, ok, _ := TryLock(path); ok {
		t.Error("the file now named is locked twice")
	}
	l.Close()
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "f"), filepath.Join(dir, "victim")
	write(t, victim, "untouched")
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", ""} {
		if err := WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("WriteFile: got %q, %v, want %q", got, err, text)
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode: got %v, %v, want 0600", info, err)
	}
	if got, _ := os.ReadFile(victim); string(got) != "untouched" {
		t.Errorf("the link was followed: %q", got)
	}
	if err := WriteFile(filepath.Join(dir, "absent/f"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WriteFile into an absent folder: got %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "folder"), nil, 0o600); err == nil {
		t.Error("WriteFile over a folder: no error")
	}
	if list, _ := os.ReadDir(dir); len(list) != 3 {
		t.Errorf("got %v, want the file, its victim and the folder and nothing else", list)
	}
}
