package bench

// chunks hands on the whole chunks at the front of p, in the shape in which
// they nearly always arrive, and returns what is behind them. It stands between
// two chunks before and after; whatever it does not know it leaves to the
// reading by lines, which knows all there is.
func chunks(p []byte, body func([]byte)) []byte {
	for {
		n, digits := 0, 0
		for digits < len(p) && digits < maxChunkDigits {
			d := hexDigit(p[digits])
			if d < 0 {
				break
			}
			n = n<<4 | int(d)
			digits++
		}
		from := digits + 2
		to := from + n
		if n == 0 || to+2 > len(p) || p[digits] != '\r' || p[digits+1] != '\n' || p[to] != '\r' || p[to+1] != '\n' {
			return p
		}
		body(p[from:to])
		p = p[to+2:]
	}
}

// maxChunkDigits is the length of the longest chunk size that is read.
const maxChunkDigits = 8

// hexDigit is the value of a hexadecimal digit, -1 for another byte.
func hexDigit(c byte) int64 {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0')
	case c >= 'a' && c <= 'f':
		return int64(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int64(c-'A') + 10
	}
	return -1
}
