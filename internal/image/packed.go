package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync/atomic"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// packed is a layer as stored, hashed while it is read. It is the compressed
// form from which the registry library makes the plain one.
type packed struct {
	ctx    context.Context // of one unpacking, not kept beyond it
	layer  v1.Layer
	digest v1.Hash
	size   int64

	in   io.ReadCloser
	sum  hash.Hash
	read atomic.Int64 // a decompressor may read in a goroutine of its own
	err  error        // why the stored bytes are not the layer
}

func newPacked(ctx context.Context, l v1.Layer) (*packed, error) {
	p := &packed{ctx: ctx, layer: l, sum: sha256.New()}
	var err error
	if p.digest, err = l.Digest(); err != nil {
		return nil, err
	}
	p.size, err = l.Size()
	return p, err
}

func (p *packed) Digest() (v1.Hash, error)            { return p.digest, nil }
func (p *packed) Size() (int64, error)                { return p.size, nil }
func (p *packed) MediaType() (types.MediaType, error) { return p.layer.MediaType() }

func (p *packed) Compressed() (io.ReadCloser, error) {
	in, err := p.layer.Compressed()
	p.in = in
	return p, err
}

func (p *packed) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		p.err = err
		return 0, err
	}
	n, err := p.in.Read(b)
	p.sum.Write(b[:n])
	if p.read.Add(int64(n)) > p.size {
		p.err = fmt.Errorf("larger than its %d bytes", p.size)
		return n, p.err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

// Close leaves the layer open for verify; done closes it.
func (p *packed) Close() error { return nil }

// done closes the layer, if it was opened.
func (p *packed) done() {
	if p.in != nil {
		p.in.Close()
	}
}

// verify reads what the decompressor left and compares. The decompressor must
// be closed.
func (p *packed) verify() error {
	if p.err != nil {
		return p.err
	}
	if _, err := io.Copy(io.Discard, p); err != nil {
		return err
	}
	if got := hex.EncodeToString(p.sum.Sum(nil)); got != p.digest.Hex {
		return fmt.Errorf("stored content is sha256:%s: %w", got, ErrDamaged)
	}
	return nil
}

// metered stops a stream that grows out of all proportion to what it was
// unpacked from.
type metered struct {
	r      io.Reader
	packed *atomic.Int64
	n      int64
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if m.n += int64(n); m.n > ratioFrom && m.n > maxRatio*(m.packed.Load()+1) {
		return n, fmt.Errorf("unpacks to more than %d times its size", maxRatio)
	}
	return n, err
}
