//go:build !cgo

package engine

import (
	"errors"
	"os"
	"testing"
)

func TestReadWithoutReader(t *testing.T) {
	if _, err := Read(os.DirFS("testdata/loom"), "v1"); !errors.Is(err, ErrNoReader) {
		t.Errorf("Read: got %v, want ErrNoReader", err)
	}
}
