package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// ReceiptKind is the kind of the records that hold receipts of steps.
const ReceiptKind = "receipt"

const (
	partBytes   = 42_000   // of compressed data in one part: 56,000 characters of base64
	framing     = 300      // most characters of a marker and the lines around the JSON
	maxReceipts = 16 << 20 // of the JSON of one record of receipts, in bytes
	maxParts    = 400      // of one record
)

// receiptPart is a piece of a record of receipts that does not fit one comment.
type receiptPart struct {
	Part int    `json:"part"` // from 1
	Of   int    `json:"of"`
	Data string `json:"data"` // base64 of a piece of the gzip of the JSON
}

// receiptIndex stands in the place of such a record.
type receiptIndex struct {
	Parts  []string `json:"parts"`
	SHA256 string   `json:"sha256"` // of the JSON, 64 hex
}

// ReceiptRecords are the comments of a record of receipts: one that holds data,
// or numbered parts first and their index last. step is the last of its steps.
// Every name ends with the digest of what the comment holds, so that it is
// never edited, and an edit is seen. The error says that data cannot be written.
func (p Policy) ReceiptRecords(parent, id, step string, data json.RawMessage, page string) ([]NamedComment, error) {
	line, err := json.Marshal(data) // compact, and no <, > or & is left
	if err != nil {
		return nil, fmt.Errorf("record receipt %s: %w", step, err)
	}
	if utf8.RuneCount(line)+utf8.RuneCountInString(page)+framing >= maxBody {
		return p.splitReceipts(parent, id, step, line, page)
	}
	c, err := p.receiptRecord(parent, id, step, json.RawMessage(line), page)
	return []NamedComment{c}, err
}

func (p Policy) splitReceipts(parent, id, step string, line []byte, page string) ([]NamedComment, error) {
	if len(line) > maxReceipts {
		return nil, fmt.Errorf("record receipt %s: %d bytes, at most %d fit", step, len(line), maxReceipts)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(line); err != nil {
		return nil, fmt.Errorf("record receipt %s: %w", step, err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("record receipt %s: %w", step, err)
	}
	sum := sha256.Sum256(line)
	index := receiptIndex{SHA256: hex.EncodeToString(sum[:])}
	var out []NamedComment
	of := (packed.Len() + partBytes - 1) / partBytes
	for n := 1; n <= of; n++ {
		part := receiptPart{n, of, base64.StdEncoding.EncodeToString(packed.Next(partBytes))}
		c, err := p.receiptRecord(parent, id, fmt.Sprintf("%s-part-%d", step, n), part, fmt.Sprintf("**Receipts** · part %d/%d of %s", n, of, step))
		if err != nil {
			return nil, err
		}
		out, index.Parts = append(out, c), append(index.Parts, c.Name)
	}
	c, err := p.receiptRecord(parent, id, step, index, page)
	return append(out, c), err
}

// receiptRecord is a record whose name ends with the digest of its JSON.
func (p Policy) receiptRecord(parent, id, name string, v any, page string) (NamedComment, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return NamedComment{}, fmt.Errorf("record receipt %s: %w", name, err)
	}
	name += "-" + digest(data)
	body, err := p.Record(ReceiptKind, parent, id, name, json.RawMessage(data), page)
	return NamedComment{name, body}, err
}

// ReceiptPart says whether a record of receipts is a part of another one.
func (r Record) ReceiptPart() bool {
	return r.Kind == ReceiptKind && strings.Contains(r.Name, "-part-")
}

// AsWritten says whether a record of receipts is the one that its name names.
func (r Record) AsWritten() bool {
	return r.Kind == ReceiptKind && strings.HasSuffix(r.Name, "-"+digest(r.JSON))
}

// WholeReceipts gives the JSON of a record of receipts. The parts of one that
// was split are asked for by name. Nothing of a record that is not as it was
// written comes back.
func WholeReceipts(index Record, part func(name string) (Record, bool)) (json.RawMessage, error) {
	if !index.AsWritten() {
		return nil, fmt.Errorf("record receipt %s was changed", index.Name)
	}
	var split receiptIndex
	if err := json.Unmarshal(index.JSON, &split); err != nil {
		return nil, fmt.Errorf("record receipt %s: %w", index.Name, err)
	}
	if len(split.Parts) == 0 {
		return index.JSON, nil
	}
	if len(split.Parts) > maxParts {
		return nil, fmt.Errorf("record receipt %s: %d parts, at most %d are read", index.Name, len(split.Parts), maxParts)
	}
	var packed bytes.Buffer
	for i, name := range split.Parts {
		data, err := pieceOf(index, part, name, i+1, len(split.Parts))
		if err != nil {
			return nil, fmt.Errorf("record receipt %s: part %s: %w", index.Name, name, err)
		}
		packed.Write(data)
	}
	return unpacked(index.Name, &packed, split.SHA256)
}

func pieceOf(index Record, part func(string) (Record, bool), name string, n, of int) ([]byte, error) {
	r, ok := part(name)
	if !ok {
		return nil, errors.New("is missing")
	}
	var piece receiptPart
	if !r.AsWritten() || r.Name != name || r.ID != index.ID {
		return nil, errors.New("was changed")
	}
	if err := decode(r.JSON, &piece); err != nil {
		return nil, err
	}
	if piece.Part != n || piece.Of != of {
		return nil, fmt.Errorf("is %d of %d, want %d of %d", piece.Part, piece.Of, n, of)
	}
	return base64.StdEncoding.DecodeString(piece.Data)
}

// unpacked undoes the compression and holds the result against its digest.
func unpacked(name string, packed io.Reader, want string) (json.RawMessage, error) {
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("record receipt %s: %w", name, err)
	}
	line, err := io.ReadAll(io.LimitReader(z, maxReceipts+1))
	if err != nil {
		return nil, fmt.Errorf("record receipt %s: %w", name, err)
	}
	if sum := sha256.Sum256(line); len(line) > maxReceipts || hex.EncodeToString(sum[:]) != want {
		return nil, fmt.Errorf("record receipt %s: its parts are not what was split", name)
	}
	return line, nil
}

// ReceiptLine is one receipt on its page.
type ReceiptLine struct {
	Step   string
	At     time.Time
	Detail string
}

// maxDetail bounds what a page says about one receipt, in characters.
const maxDetail = 300

// ReceiptsComment is the page of receipts: collapsed, because they are for
// programs and for who wants to know.
func (p Policy) ReceiptsComment(ls []ReceiptLine) string {
	t := table{head: []string{"Step", "At", "What"}, left: []bool{true, true, true}}
	var steps []string
	for _, l := range ls {
		detail := []rune(strings.Join(strings.Fields(l.Detail), " "))
		if len(detail) > maxDetail {
			detail = append(detail[:maxDetail], '…')
		}
		t.rows = append(t.rows, []string{l.Step, stamp(l.At), string(detail)})
		steps = append(steps, escape(l.Step))
	}
	title := "Receipts: " + strings.Join(steps, ", ")
	if p.Bilingual {
		title += " / 步骤凭据"
	}
	return details(title, t.markdown())
}
