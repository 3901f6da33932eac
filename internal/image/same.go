package image

// Same reports whether two names name one image: the spellings of registries
// and of enroot are equal. Names that do not parse are compared as they are.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	one, err := Parse(a)
	if err != nil {
		return false
	}
	other, err := Parse(b)
	return err == nil && one == other
}
