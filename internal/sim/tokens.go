package sim

import "hash/fnv"

// tokenBytes is the longest token: a word is cut every so many bytes.
const tokenBytes = 4

// Tokens counts the tokens of a text. A word (a run of bytes that are not
// white space) costs one token for every four bytes begun.
func Tokens(text string) int {
	n := 0
	eachToken(text, func(string) { n++ })
	return n
}

// TokenIDs numbers the tokens of a text; equal tokens have equal numbers.
func TokenIDs(text string) []int {
	ids := []int{}
	eachToken(text, func(token string) {
		h := fnv.New32a()
		h.Write([]byte(token))
		ids = append(ids, int(h.Sum32()%vocabularySize))
	})
	return ids
}

const vocabularySize = 50000

// eachToken visits the tokens of a text in order, white space left out.
func eachToken(text string, visit func(token string)) {
	start := -1
	for i := 0; i < len(text); i++ {
		if space(text[i]) {
			if start >= 0 {
				visit(text[start:i])
				start = -1
			}
			continue
		}
		if start < 0 {
			start = i
		} else if i-start == tokenBytes {
			visit(text[start:i])
			start = i
		}
	}
	if start >= 0 {
		visit(text[start:])
	}
}

// pieces cuts a text into its tokens, each with the white space before it, so
// that joining them gives the text back (white space at the end is dropped).
func pieces(text string) []string {
	var out []string
	end := 0
	eachToken(text, func(token string) {
		start := end
		for space(text[start]) {
			start++
		}
		out = append(out, text[end:start+len(token)])
		end = start + len(token)
	})
	return out
}

func space(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }

// filler is what the engine says when it has nothing to say: every entry is
// one token and needs no escaping in JSON.
var filler = [...]string{
	" sea", " hull", " keel", " mast", " sail", " deck", " rope", " helm", " buoy", " bow", " port", " tide",
	" wave", " gale", " dock", " crew", " log", " bell", " fog", " calm", " reef", " oar", " tug", " dry",
	" rig", " fit", " new", " old", " ship", " yard", " test", " run",
}
