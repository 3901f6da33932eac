package matrix

import "bytes"

// WriteRows spells a matrix as one JSON array, a row to a line.
func WriteRows(rows []Row) ([]byte, error) {
	if len(rows) == 0 {
		return []byte("[]\n"), nil
	}
	var b bytes.Buffer
	b.Grow(640 * len(rows))
	b.WriteString("[\n")
	for i, r := range rows {
		if i > 0 {
			b.WriteString(",\n")
		}
		if err := writeValue(&b, r); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}
