package lab

import (
	"embed"
	"io/fs"
)

//go:embed all:files
var files embed.FS

// Content is what labs are made of, as files, below the name of the engine:
//
//	workspace/...   the recipe repository, to be committed as it is
//	engine/bin/...  programs that every engine image carries in usr/local/bin
//	engine/v1/...   what version 1 of the simulated engine's image carries in usr/local
//	engine/v2/...   the same of version 2
//
// Embedded files have no modes; see modeOf.
func Content() fs.FS {
	content, err := fs.Sub(files, "files")
	if err != nil {
		panic("lab: the embedded content has no root: " + err.Error())
	}
	return content
}
