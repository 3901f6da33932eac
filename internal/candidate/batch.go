package candidate

import (
	"context"
	"fmt"
)

// A batcher is a ledger to which every write is dear, as a comment is that
// people are told of. It takes several receipts of a candidate in one write:
// all of them are kept, or none.
type batcher interface {
	AppendAll(ctx context.Context, c Candidate, rs []Receipt) error
}

// batch is the ledger, when it takes batches. Then the receipts of steps are
// written when the walk waits or ends, and before any receipt that says what is
// about to be done (a dispatch, a further sweep, an end): a step whose receipt
// was lost with its process finds what it did and leaves the receipt again.
func (s *Shepherd) batch() batcher {
	b, _ := s.Ledger.(batcher)
	return b
}

// settle writes what was left for the end of the walk, and only while we hold
// the lease: without it a receipt is somebody else's to write.
func (w *work) settle(ctx context.Context) error {
	if w.batch() == nil || !w.claimed || w.dry || w.leased == "" || len(w.fresh) == 0 {
		return nil
	}
	if err := w.stillOurs(ctx); err != nil {
		return ignoreWaiting(err)
	}
	return w.flush(ctx)
}

// flushAll appends the fresh receipts in one write.
func (w *work) flushAll(ctx context.Context) error {
	if err := w.appendOnce(ctx, w.fresh...); err != nil {
		return fmt.Errorf("receipts: %w", err)
	}
	w.fresh = nil
	return nil
}

func (w *work) appendAll(ctx context.Context, rs []Receipt) error {
	if b := w.batch(); b != nil {
		return b.AppendAll(ctx, w.c, rs)
	}
	for _, r := range rs {
		if err := w.Ledger.Append(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
