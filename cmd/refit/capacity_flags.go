package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/server"
)

// capacityFlags say where a command that wants to measure asks for room.
type capacityFlags struct {
	status, keyFile string
	sinfo           []string
}

func (f *capacityFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.status, "status", "", "ask this status document for room on the clusters (`FILE|URL`; default: nobody is asked)")
	cmd.Flags().StringVar(&f.keyFile, "key-file", "", "`file` with the bearer token for the address in --status")
	cmd.Flags().StringArrayVar(&f.sinfo, "sinfo", nil, "ask this record of sinfo for room on one cluster (`CLUSTER=FILE`, may be repeated)")
	cmd.MarkFlagsMutuallyExclusive("status", "sinfo")
}

// source checks what was given.
func (f capacityFlags) source() (server.CapacitySource, error) {
	s := server.CapacitySource{Status: f.status, KeyFile: f.keyFile, Sinfo: map[string]string{}}
	if f.keyFile != "" && !(api.Source{Name: f.status}).Remote() {
		return s, usage("--key-file is for an address in --status")
	}
	for _, text := range f.sinfo {
		cluster, file, ok := strings.Cut(text, "=")
		if _, twice := s.Sinfo[cluster]; !ok || cluster == "" || file == "" || twice {
			return s, usage("--sinfo %s: want CLUSTER=FILE, each cluster once", text)
		}
		s.Sinfo[cluster] = file
	}
	return s, nil
}
