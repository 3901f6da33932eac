package main

import (
	"bytes"
	"fmt"
	"testing"
)

func TestTextIsPrintable(t *testing.T) {
	var b bytes.Buffer
	n, err := fmt.Fprintf(text{&b}, "a\x1b[2Jb\tc\x07\n\u202edone\r\n  é ✓\n")
	if err != nil || n != len("a\x1b[2Jb\tc\x07\n\u202edone\r\n  é ✓\n") {
		t.Errorf("wrote %d, %v", n, err)
	}
	if want := "a[2Jb c\ndone \n  é ✓\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
