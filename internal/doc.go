// Package internal is a house of eighteen rooms. A room is one package (with
// its subpackages), and may import only the rooms above it in this list; a test
// beside this file holds every import to it.
//
//	workspace   refit.yaml, paths, locks, identities, git objects through the git binary
//	image       image references, lanes, tag order, digests, OCI layouts, registries, unpacking
//	recipe      the catalogue: masters, runners, changelog; edits that keep every other byte
//	matrix      points and their identity: expansion, selection, eval marking, plans
//	engine      what a serving engine is: declared arguments, launch lines, their comparison
//	sim         a simulated serving engine behind the OpenAI API
//	bench       load: a workload against an endpoint, and whether the client can be trusted
//	eval        accuracy: questions with known answers against an endpoint
//	result      rows with provenance, manifests, the normaliser, the frozen baseline
//	compare     pairing, statistics, verdicts with intervals
//	gate        judgement over rows, manifests and comparisons: pass, fail or unknown
//	report      typed records and their pages: Markdown, terminal, HTML, CSV, benchstat text, SVG
//	forge       GitHub, and in forge/local a forge that speaks like it
//	run         points become jobs: local executor, workflow runs, artifacts
//	candidate   the life of an upgrade: steps, receipts, claim, lease
//	store       SQLite: published rows and the ledger of candidates
//	server      the process of a workspace's embedded parts: results API, dashboard, registry
//	lab         a workspace with engines of its own, and the story told with it
//
// Data goes one way. To follow one point: recipe.Load reads its family,
// matrix.Points gives it a Key, run.CI plans and run.Execute measures it,
// result.Row keeps it, compare.Compare judges it against the published history,
// gate says whether that suffices, report.Policy prints it. Who asks for all of
// this, in order, is candidate.Lifecycle (candidate/lifecycle.go).
package internal
