-- +goose Up
CREATE TABLE generation (n INTEGER NOT NULL) STRICT;
INSERT INTO generation (n) VALUES (0);

CREATE TABLE workflow_runs (
  id             INTEGER PRIMARY KEY,
  github_run_id  INTEGER NOT NULL,
  run_attempt    INTEGER NOT NULL CHECK (run_attempt >= 0),
  name           TEXT NOT NULL,
  head_sha       TEXT NOT NULL,
  head_branch    TEXT NOT NULL,
  event          TEXT NOT NULL,
  conclusion     TEXT,
  html_url       TEXT NOT NULL,
  base_sha       TEXT NOT NULL,
  created_at     TEXT NOT NULL,
  run_started_at TEXT,
  date           TEXT NOT NULL,
  config_keys    TEXT NOT NULL,
  description    TEXT NOT NULL,
  pr_link        TEXT NOT NULL,
  published      INTEGER NOT NULL CHECK (published IN (0, 1)),
  digest         TEXT NOT NULL,
  manifest       TEXT NOT NULL,
  UNIQUE (github_run_id, run_attempt)
) STRICT;
CREATE INDEX workflow_runs_date ON workflow_runs (date);

CREATE TABLE configs (
  id                   INTEGER PRIMARY KEY,
  hardware             TEXT NOT NULL CHECK (hardware = lower(hardware)),
  framework            TEXT NOT NULL CHECK (framework = lower(framework)),
  model                TEXT NOT NULL CHECK (model = lower(model)),
  precision            TEXT NOT NULL CHECK (precision = lower(precision)),
  spec_method          TEXT NOT NULL CHECK (spec_method = lower(spec_method)),
  disagg               INTEGER NOT NULL CHECK (disagg IN (0, 1)),
  is_multinode         INTEGER NOT NULL CHECK (is_multinode IN (0, 1)),
  prefill_tp           INTEGER NOT NULL CHECK (prefill_tp >= 1),
  prefill_ep           INTEGER NOT NULL CHECK (prefill_ep >= 1),
  prefill_dp_attention INTEGER NOT NULL CHECK (prefill_dp_attention IN (0, 1)),
  prefill_num_workers  INTEGER NOT NULL CHECK (prefill_num_workers >= 0),
  decode_tp            INTEGER NOT NULL CHECK (decode_tp >= 0),
  decode_ep            INTEGER NOT NULL CHECK (decode_ep >= 0),
  decode_dp_attention  INTEGER NOT NULL CHECK (decode_dp_attention IN (0, 1)),
  decode_num_workers   INTEGER NOT NULL CHECK (decode_num_workers >= 0),
  num_prefill_gpu      INTEGER NOT NULL CHECK (num_prefill_gpu >= 0),
  num_decode_gpu       INTEGER NOT NULL CHECK (num_decode_gpu >= 0),
  UNIQUE (hardware, framework, model, precision, spec_method, disagg, is_multinode,
          prefill_tp, prefill_ep, prefill_dp_attention, prefill_num_workers,
          decode_tp, decode_ep, decode_dp_attention, decode_num_workers, num_prefill_gpu, num_decode_gpu)
) STRICT;

CREATE TABLE points (
  id              INTEGER PRIMARY KEY,
  workflow_run_id INTEGER NOT NULL REFERENCES workflow_runs (id),
  config_id       INTEGER NOT NULL REFERENCES configs (id),
  family          TEXT NOT NULL,
  key             TEXT NOT NULL,
  fingerprint     TEXT,
  image           TEXT NOT NULL,
  image_digest    TEXT NOT NULL,
  display         TEXT NOT NULL,
  benchmark_type  TEXT NOT NULL,
  offload_mode    TEXT NOT NULL,
  isl             INTEGER,
  osl             INTEGER,
  conc            INTEGER NOT NULL CHECK (conc > 0),
  result          TEXT NOT NULL,
  metrics         TEXT NOT NULL,
  body            TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX points_key ON points (workflow_run_id, family, key, ifnull(fingerprint, ''));
CREATE INDEX points_family ON points (family, image_digest);
CREATE INDEX points_display ON points (display) WHERE result = 'passed';
CREATE INDEX points_config ON points (config_id);

CREATE TABLE evals (
  id              INTEGER PRIMARY KEY,
  workflow_run_id INTEGER NOT NULL REFERENCES workflow_runs (id),
  config_id       INTEGER NOT NULL REFERENCES configs (id),
  family          TEXT NOT NULL,
  key             TEXT NOT NULL,
  fingerprint     TEXT,
  image           TEXT NOT NULL,
  image_digest    TEXT NOT NULL,
  isl             INTEGER,
  osl             INTEGER,
  conc            INTEGER,
  task            TEXT NOT NULL,
  metric          TEXT NOT NULL,
  result          TEXT NOT NULL,
  metrics         TEXT NOT NULL,
  body            TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX evals_key ON evals (workflow_run_id, family, key, ifnull(fingerprint, ''), task, metric);
CREATE INDEX evals_family ON evals (family, image_digest);

CREATE TABLE eval_answers (
  eval_id         INTEGER NOT NULL REFERENCES evals (id),
  doc_id          INTEGER NOT NULL,
  question_digest TEXT NOT NULL,
  target          TEXT NOT NULL,
  response        TEXT NOT NULL,
  filtered        TEXT NOT NULL,
  correct         INTEGER NOT NULL CHECK (correct IN (0, 1)),
  PRIMARY KEY (eval_id, doc_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  candidate TEXT NOT NULL,
  step      TEXT NOT NULL,
  subject   TEXT NOT NULL,
  by        TEXT NOT NULL,
  at        TEXT NOT NULL,
  evidence  TEXT
) STRICT;
CREATE INDEX receipts_candidate ON receipts (candidate, seq);

-- +goose StatementBegin
CREATE TRIGGER receipts_no_update BEFORE UPDATE ON receipts
BEGIN
  SELECT RAISE(ABORT, 'receipts are appended, never edited');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER receipts_no_delete BEFORE DELETE ON receipts
BEGIN
  SELECT RAISE(ABORT, 'receipts are appended, never removed');
END;
-- +goose StatementEnd

CREATE TABLE candidates (
  id      TEXT PRIMARY KEY,
  created TEXT NOT NULL,
  body    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
