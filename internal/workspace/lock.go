package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Lock is an exclusive flock on a file. It ends with Close or with the
// process, however that dies. The file itself stays.
type Lock struct{ f *os.File }

// TryLock takes the lock at path, or reports false when somebody holds it.
// Missing folders are made.
func TryLock(path string) (*Lock, bool, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	for {
		l, held, err := tryOnce(path)
		if err != nil {
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		}
		if held || l != nil {
			return l, l != nil, nil
		}
	}
}

// WaitLock waits for the lock at path until ctx ends.
func WaitLock(ctx context.Context, path string) (*Lock, error) {
	pause := 5 * time.Millisecond
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		l, ok, err := TryLock(path)
		if err != nil || ok {
			return l, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(2*pause, 250*time.Millisecond)
		}
	}
}

// Close gives the lock up. A second Close is an error.
func (l *Lock) Close() error { return l.f.Close() }

// tryOnce returns neither a lock nor held when the file was replaced between
// opening and locking; the lock would then guard a file nobody else opens.
func tryOnce(path string) (l *Lock, held bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, false, err
	}
	err = flock(f)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, true, f.Close()
	}
	if err != nil {
		f.Close()
		return nil, false, err
	}
	ours, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, false, err
	}
	named, err := os.Stat(path)
	if err != nil || !os.SameFile(ours, named) {
		return nil, false, f.Close()
	}
	return &Lock{f}, false, nil
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
