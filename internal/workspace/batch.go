package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// batch is one "git cat-file --batch", started with the first read. The
// context is that of the Tree it serves, whose reads take none.
type batch struct {
	ctx  context.Context
	repo Repo

	mu     sync.Mutex
	closed bool
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	said   *tail
}

// read is the content of a blob. A process that answered out of step is
// dropped; the next read starts another.
func (b *batch) read(object string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fs.ErrClosed
	}
	if err := b.ctx.Err(); err != nil { // the process may not have been told yet
		_ = b.stop()
		return nil, fmt.Errorf("git cat-file %s: %w", object, err)
	}
	if b.cmd == nil {
		if err := b.start(); err != nil {
			return nil, err
		}
	}
	data, err := b.ask(object)
	if err != nil {
		if stopped := b.stop(); stopped != nil && b.ctx.Err() == nil {
			err = errors.Join(err, stopped)
		}
		if b.ctx.Err() != nil {
			err = b.ctx.Err()
		}
		return nil, fmt.Errorf("git cat-file %s: %w", object, err)
	}
	return data, nil
}

func (b *batch) start() error {
	args := []string{"cat-file", "--batch"}
	cmd := b.repo.command(b.ctx, args)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	said := &tail{limit: 4096}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return gitError(b.ctx, args, err, "")
	}
	b.cmd, b.in, b.out, b.said = cmd, in, bufio.NewReaderSize(out, 1<<16), said
	return nil
}

func (b *batch) ask(object string) ([]byte, error) {
	if _, err := io.WriteString(b.in, object+"\n"); err != nil {
		return nil, err
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	field := strings.Fields(head)
	if len(field) != 3 || field[0] != object || field[1] != "blob" {
		return nil, fmt.Errorf("answered %q", strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(field[2], 10, 64)
	if err != nil || size < 0 || size > maxBlob {
		return nil, fmt.Errorf("answered %q", strings.TrimSpace(head))
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, err
	}
	if end, err := b.out.ReadByte(); err != nil || end != '\n' {
		return nil, errors.New("answer does not end where it should")
	}
	return data, nil
}

// stop ends the process: git leaves when its input ends. Whatever it still
// writes is thrown away, so that it cannot block.
func (b *batch) stop() error {
	if b.cmd == nil {
		return nil
	}
	cmd, said := b.cmd, b.said
	b.cmd = nil
	b.in.Close()
	io.Copy(io.Discard, b.out)
	if err := cmd.Wait(); err != nil {
		return gitError(b.ctx, []string{"cat-file"}, err, said.String())
	}
	return nil
}

func (b *batch) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	return b.stop()
}
