package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/run"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/store"
)

// The inputs of the tools that look.
type (
	none       struct{}
	statusWant struct {
		Stale   int  `json:"stale,omitempty" jsonschema:"only images that are at least so many days old"`
		Offline bool `json:"offline,omitempty" jsonschema:"ask no registry"`
	}
	pointWant struct {
		Point string `json:"point" jsonschema:"a key or at least six digits of it, an exp-name, a family, FAMILY:CONC or FAMILY:KEY"`
		Conc  int    `json:"conc,omitempty" jsonschema:"the concurrency, where the name leaves it open"`
	}
	candidateWant struct {
		Candidate string `json:"candidate" jsonschema:"an id, a config key, or configs/FILE:KEY"`
	}
	pullWant struct {
		Pull int `json:"pull" jsonschema:"the number of a pull request"`
	}
	compareWant struct {
		Old    string `json:"old" jsonschema:"a run id, image:REF, or FAMILY@REF"`
		New    string `json:"new" jsonschema:"a run id, image:REF, or FAMILY@REF"`
		Family string `json:"family,omitempty" jsonschema:"the family, where the two leave it open"`
	}
	rowsWant struct {
		Family string `json:"family,omitempty" jsonschema:"configs/FILE:KEY"`
		Image  string `json:"image,omitempty" jsonschema:"an image reference"`
		Run    int64  `json:"run,omitempty" jsonschema:"the id of a workflow run"`
	}
)

// shown is where a candidate stands, with the receipts of its steps.
type shown struct {
	candidate.Status
	Receipts []candidate.Receipt `json:"receipts"`
}

// looks adds the tools that only look.
func (s *Server) looks(srv *sdk.Server) {
	local, outside := nature{}, nature{outside: true}
	tool(srv, s, "status", "Families and images", "The images that the recipes run, oldest first, their age, the newest tag of each lane, and the open candidates.", outside, s.status)
	tool(srv, s, "matrix_explain", "Explain a point", "Where every value of one point comes from, whether it is evaluated and why, and the line that measures it.", local, s.explain)
	tool(srv, s, "candidate_list", "List candidates", "All candidates, newest first.", local, s.list)
	tool(srv, s, "candidate_show", "Show a candidate", "Where a candidate stands, its next action, and the receipts of its steps with their evidence.", local, s.show)
	tool(srv, s, "candidate_check_final", "Check the final matrix", "Whether the sweep of the present head would measure exactly this family and every point of the baseline.", outside, s.checkFinal)
	tool(srv, s, "why", "Why no sweep", "What keeps the sweep of a pull request from starting, and what to do.", outside, s.why)
	tool(srv, s, "doctor", "Check the workspace", "Identity, rights, labels, workflows, clock and disk.", outside, s.doctor)
	tool(srv, s, "compare", "Compare measurements", "Two stored runs or images, point by point, with intervals and verdicts.", local, s.compare)
	tool(srv, s, "results_measured", "What was measured", "Which runs are stored, of which family on which image, oldest first.", local, s.measured)
	tool(srv, s, "results_query", "Stored rows", "The stored rows of a family, an image or a run, oldest run first.", local, s.rows)
	tool(srv, s, "judgement_list", "Open judgements", "The judgements that are being asked for right now, with their decisions, choices and the folder of their evidence.", local, s.judgements)
}

func (s *Server) status(ctx context.Context, in statusWant) (any, int, error) {
	if in.Stale < 0 {
		return nil, 0, fmt.Errorf("stale %d: want a number of days", in.Stale)
	}
	f, err := server.Fleet(ctx, s.Workspace, server.FleetOptions{Offline: in.Offline, Wait: 5 * time.Second}, s.Now())
	if err == nil && in.Stale > 0 {
		f = candidate.Stale(f, in.Stale)
	}
	return f, done, err
}

func (s *Server) explain(_ context.Context, in pointWant) (any, int, error) {
	if in.Conc < 0 {
		return nil, 0, fmt.Errorf("conc %d: must be greater than 0", in.Conc)
	}
	x, err := run.Explain(s.Workspace, in.Point, in.Conc)
	return x, done, err
}

func (s *Server) list(ctx context.Context, _ none) (result any, _ int, err error) {
	err = s.with(ctx, func(_ *server.Parts, shepherd *candidate.Shepherd) error {
		all, err := shepherd.Ledger.Candidates(ctx)
		result = append([]candidate.Summary{}, all...) // none is an empty list
		return err
	})
	return result, done, err
}

// find does something with the candidate of a name.
func (s *Server) find(ctx context.Context, name string, do func(*candidate.Shepherd, candidate.Candidate) error) error {
	return s.with(ctx, func(_ *server.Parts, shepherd *candidate.Shepherd) error {
		c, err := shepherd.Find(ctx, name)
		if err != nil {
			return err
		}
		return do(shepherd, c)
	})
}

func (s *Server) show(ctx context.Context, in candidateWant) (result any, _ int, err error) {
	err = s.find(ctx, in.Candidate, func(shepherd *candidate.Shepherd, c candidate.Candidate) error {
		st, receipts, err := shepherd.Show(ctx, c)
		result = shown{st, receipts}
		return err
	})
	return result, done, err
}

func (s *Server) checkFinal(ctx context.Context, in candidateWant) (any, int, error) {
	var v gate.Verdict
	err := s.find(ctx, in.Candidate, func(shepherd *candidate.Shepherd, c candidate.Candidate) (err error) {
		v, err = shepherd.CheckFinal(ctx, c)
		return err
	})
	return v, codeOf(v), err
}

// codeOf is the exit code of a verdict.
func codeOf(v gate.Verdict) int {
	if v.Answer == gate.Pass {
		return done
	}
	return refused
}

func (s *Server) why(ctx context.Context, in pullWant) (result any, _ int, err error) {
	if in.Pull < 1 {
		return nil, 0, fmt.Errorf("pull request %d: want its number", in.Pull)
	}
	err = s.with(ctx, func(_ *server.Parts, shepherd *candidate.Shepherd) error {
		w, err := shepherd.Why(ctx, in.Pull)
		result = w
		return err
	})
	return result, done, err
}

func (s *Server) doctor(ctx context.Context, _ none) (any, int, error) {
	var d candidate.Doctored
	err := s.with(ctx, func(_ *server.Parts, shepherd *candidate.Shepherd) (err error) {
		d, err = shepherd.Doctor(ctx)
		return err
	})
	code := done
	if gate.All(d.Checks).Answer == gate.Fail {
		code = refused
	}
	return d, code, err
}

func (s *Server) compare(ctx context.Context, in compareWant) (any, int, error) {
	older, err := store.ParseSelection(in.Old)
	if err != nil {
		return nil, 0, err
	}
	newer, err := store.ParseSelection(in.New)
	if err != nil {
		return nil, 0, err
	}
	c, err := server.Compare(ctx, s.Workspace, in.Family, older, newer)
	return c, done, err
}

func (s *Server) measured(ctx context.Context, _ none) (result any, _ int, err error) {
	err = s.stored(ctx, func(st *store.Store) error {
		all, err := st.Measured(ctx)
		result = all
		return err
	})
	return result, done, err
}

func (s *Server) rows(ctx context.Context, in rowsWant) (result any, _ int, err error) {
	err = s.stored(ctx, func(st *store.Store) error {
		rows, err := st.Points(ctx, store.Query{Family: in.Family, Image: in.Image, RunID: in.Run})
		result = rows
		return err
	})
	return result, done, err
}

// stored does something with the store of the workspace.
func (s *Server) stored(ctx context.Context, do func(*store.Store) error) (err error) {
	st, err := server.OpenStore(ctx, s.Workspace)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return do(st)
}

func (s *Server) judgements(context.Context, none) (any, int, error) {
	open, err := server.OpenQuestions(s.Workspace)
	return open, done, err
}
