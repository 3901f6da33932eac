//go:build !cgo

package engine

func parseModule(file string, src []byte) (*module, error) { return nil, ErrNoReader }
