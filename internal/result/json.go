package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// object is a JSON object whose members keep their order. Values are nil,
// bool, string, int, float64, json.Number, []any and object.
type object []member

type member struct {
	key   string
	value any
}

// get returns the last value written under a key.
func (o object) get(key string) (any, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// set writes a key: a new one at the end, a known one in its place.
func (o *object) set(key string, value any) {
	for i := range *o {
		if (*o)[i].key == key {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{key, value})
}

// str returns the text under a key, empty when there is none.
func (o object) str(key string) string {
	v, _ := o.get(key)
	s, _ := v.(string)
	return s
}

const maxDepth = 64

// decodeOrdered reads one JSON value and keeps the order of members and the
// spelling of numbers.
func decodeOrdered(src []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	v, err := decodeValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// decodeObject is decodeOrdered where an object is expected.
func decodeObject(src []byte) (object, error) {
	v, err := decodeOrdered(src)
	if err != nil {
		return nil, err
	}
	o, ok := v.(object)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	return o, nil
}

func decodeValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("nested too deep")
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return decodeMembers(dec, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	return tok, nil
}

// decodeMembers reads on behind a brace. An index makes wide objects cheap.
func decodeMembers(dec *json.Decoder, depth int) (object, error) {
	o, index := object{}, map[string]int{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := tok.(string) // the decoder gives nothing else here
		v, err := decodeValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if i, ok := index[key]; ok {
			o[i].value = v
			continue
		}
		index[key] = len(o)
		o = append(o, member{key, v})
	}
	_, err := dec.Token()
	return o, err
}

// encodeIndented writes a value as the published aggregate files are written:
// two spaces, non-ASCII escaped, floats with a point. No final newline.
func encodeIndented(v any) ([]byte, error) {
	var buf bytes.Buffer
	if err := encodeValue(&buf, v, 0); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func encodeValue(buf *bytes.Buffer, v any, depth int) error {
	switch v := v.(type) {
	case nil:
		buf.WriteString("null")
	case bool:
		buf.WriteString(strconv.FormatBool(v))
	case string:
		encodeString(buf, v)
	case int:
		buf.WriteString(strconv.Itoa(v))
	case json.Number:
		return encodeNumber(buf, v)
	case float64:
		return encodeFloat(buf, v)
	case []any:
		return encodeBlock(buf, '[', ']', len(v), depth, func(i int) error { return encodeValue(buf, v[i], depth+1) })
	case object:
		return encodeBlock(buf, '{', '}', len(v), depth, func(i int) error {
			encodeString(buf, v[i].key)
			buf.WriteString(": ")
			return encodeValue(buf, v[i].value, depth+1)
		})
	default:
		return fmt.Errorf("cannot write a %T", v)
	}
	return nil
}

func encodeBlock(buf *bytes.Buffer, open, close byte, n, depth int, item func(int) error) error {
	buf.WriteByte(open)
	for i := range n {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.WriteString("\n" + strings.Repeat("  ", depth+1))
		if err := item(i); err != nil {
			return err
		}
	}
	if n > 0 {
		buf.WriteString("\n" + strings.Repeat("  ", depth))
	}
	buf.WriteByte(close)
	return nil
}

// encodeNumber keeps integers as they are and respells floats.
func encodeNumber(buf *bytes.Buffer, n json.Number) error {
	if !strings.ContainsAny(string(n), ".eE") {
		buf.WriteString(string(n))
		return nil
	}
	f, err := n.Float64()
	if err != nil {
		return fmt.Errorf("number %s is not finite", n)
	}
	return encodeFloat(buf, f)
}

func encodeFloat(buf *bytes.Buffer, f float64) error {
	text, finite := workspace.FloatText(f)
	if !finite {
		return fmt.Errorf("number %v is not finite", f)
	}
	buf.WriteString(text)
	return nil
}

func encodeString(buf *bytes.Buffer, s string) { buf.WriteString(workspace.ASCII(s)) }
