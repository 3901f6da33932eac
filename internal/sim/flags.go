package sim

import (
	"errors"
	"fmt"
	"os"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/workspace"
)

// readFlags reads the declarations of a source directory. A build without the
// Python reader takes them from the options file, when there is one.
func readFlags(source, options string) (engine.Model, error) {
	flags, err := engine.Read(os.DirFS(source), ".")
	if errors.Is(err, engine.ErrNoReader) && options != "" {
		return readOptions(options)
	}
	if err != nil {
		return engine.Model{}, fmt.Errorf("read engine source %s: %w", source, err)
	}
	return flags, nil
}

// readOptions reads an argument model in JSON.
func readOptions(path string) (engine.Model, error) {
	data, err := workspace.ReadFile(path, 16<<20)
	if err != nil {
		return engine.Model{}, err
	}
	var m engine.Model
	if err := workspace.DecodeStrict(data, &m); err != nil {
		return engine.Model{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
