package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/server"
)

// The inputs of the tools that write.
type (
	stopWant struct {
		Candidate string `json:"candidate" jsonschema:"an id, a config key, or configs/FILE:KEY"`
		Reason    string `json:"reason" jsonschema:"why, in one sentence; it goes into the receipt"`
		Outcome   string `json:"outcome,omitempty" jsonschema:"the outcome it ends with; uncertain when left out"`
	}
	answerWant struct {
		Question string   `json:"question" jsonschema:"the identity of an open judgement"`
		Decision string   `json:"decision" jsonschema:"one of its decisions"`
		Reason   string   `json:"reason" jsonschema:"one or two sentences"`
		Choices  []string `json:"choices,omitempty" jsonschema:"ids of its choices; left out: those that are proposed"`
	}
)

// writes adds the tools that write.
func (s *Server) writes(srv *sdk.Server) {
	tool(srv, s, "candidate_advance", "Advance a candidate", "Goes on with a candidate that exists, as far as it goes without waiting. It begins none. Code 3: it ended without being validated; 4: it waits.",
		nature{writes: true, idempotent: true, outside: true}, s.advance)
	tool(srv, s, "candidate_stop", "Stop a candidate", "Ends a candidate with an outcome, and cleans up after it: runs are cancelled, the pull request is closed, the branch goes or stays as the outcome says. Code 3: it has another outcome; 4: call again.",
		nature{writes: true, destroys: true, idempotent: true, outside: true}, s.stop)
	tool(srv, s, "judgement_answer", "Answer a judgement", "Answers a judgement of judgement_list that an agent is being asked for. The answer is checked, and refused when it does not fit.",
		nature{writes: true}, s.answer)
}

func (s *Server) advance(ctx context.Context, in candidateWant) (any, int, error) {
	var st candidate.Status
	err := s.find(ctx, in.Candidate, func(shepherd *candidate.Shepherd, c candidate.Candidate) (err error) {
		st, err = shepherd.Advance(ctx, c)
		return err
	})
	code := refused
	switch {
	case st.State == candidate.Waits:
		code = waiting
	case st.Outcome == "" || st.Outcome == candidate.Validated:
		code = done
	}
	return st, code, err
}

func (s *Server) stop(ctx context.Context, in stopWant) (any, int, error) {
	o, err := candidate.ParseStop(in.Outcome)
	if err != nil {
		return nil, 0, err
	}
	var st candidate.Status
	err = s.find(ctx, in.Candidate, func(shepherd *candidate.Shepherd, c candidate.Candidate) (err error) {
		st, err = shepherd.Stop(ctx, c, o, in.Reason)
		return err
	})
	code := refused
	switch {
	case st.Outcome == o:
		code = done
	case st.State == candidate.Waits:
		code = waiting
	}
	return st, code, err
}

func (s *Server) answer(_ context.Context, in answerWant) (any, int, error) {
	a := candidate.NewAnswer(in.Question, in.Decision, in.Reason, in.Choices)
	return a, done, server.GiveAnswer(s.Workspace, a)
}
