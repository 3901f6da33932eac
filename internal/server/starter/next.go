package starter

// Next is what a person does after the workflow files are written, as lines for a
// terminal.
const Next = `Next, in the repository's settings on GitHub:
  variable REFIT_URL             https address of a refit release's binary for linux
  variable REFIT_SHA256          its SHA-256 in hex; a binary that differs is not run
  variable REFIT_RUNNER          labels of the runners that measure, as a JSON list (default ["self-hosted"])
  variable REFIT_CONTROL_RUNNER  labels of the one runner that keeps the ledger in its work folder, likewise; no machine that measures
  secret   REFIT_TOKEN           token of a machine user or an app with write access: for a repository,
                                 contents, pull requests, issues and actions
Put the sweep label of refit.yaml there, commit the files, and ask: refit doctor
`
