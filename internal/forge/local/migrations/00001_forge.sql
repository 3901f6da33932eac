-- +goose Up
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;

CREATE TABLE label (
    name        TEXT PRIMARY KEY COLLATE NOCASE,
    id          INTEGER NOT NULL,
    color       TEXT NOT NULL,
    description TEXT NOT NULL
) STRICT;

CREATE TABLE pull (
    number    INTEGER PRIMARY KEY,
    id        INTEGER NOT NULL,
    node_id   TEXT NOT NULL UNIQUE,
    title     TEXT NOT NULL,
    body      TEXT NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    draft     INTEGER NOT NULL,
    head_ref  TEXT NOT NULL,
    head_sha  TEXT NOT NULL,
    base_ref  TEXT NOT NULL,
    base_sha  TEXT NOT NULL,
    author    TEXT NOT NULL,
    created   INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    closed    INTEGER NOT NULL DEFAULT 0,
    merged    INTEGER NOT NULL DEFAULT 0,
    merged_by TEXT NOT NULL DEFAULT '',
    merge_sha TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX pull_open ON pull (head_ref, base_ref) WHERE state = 'open';

CREATE TABLE pull_label (
    pull INTEGER NOT NULL REFERENCES pull (number),
    name TEXT NOT NULL COLLATE NOCASE REFERENCES label (name),
    PRIMARY KEY (pull, name)
) STRICT;

CREATE TABLE comment (
    id      INTEGER PRIMARY KEY,
    node_id TEXT NOT NULL UNIQUE,
    pull    INTEGER NOT NULL REFERENCES pull (number),
    author  TEXT NOT NULL,
    body    TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    editor  TEXT NOT NULL DEFAULT '',
    edited  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX comment_pull ON comment (pull, id);

CREATE TABLE run (
    id          INTEGER PRIMARY KEY,
    number      INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    workflow    TEXT NOT NULL,
    event       TEXT NOT NULL,
    title       TEXT NOT NULL,
    head_sha    TEXT NOT NULL,
    head_branch TEXT NOT NULL,
    actor       TEXT NOT NULL,
    pull        INTEGER NOT NULL,
    payload     BLOB NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('queued', 'in_progress', 'completed')),
    conclusion  TEXT NOT NULL DEFAULT '',
    cancel      INTEGER NOT NULL DEFAULT 0,
    created     INTEGER NOT NULL,
    started     INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    note        TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX run_status ON run (status, id);

CREATE TABLE artifact (
    id      INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES run (id),
    attempt INTEGER NOT NULL,
    name    TEXT NOT NULL,
    size    INTEGER NOT NULL,
    digest  TEXT NOT NULL,
    file    TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE INDEX artifact_run ON artifact (run, id);

CREATE TABLE branch (name TEXT PRIMARY KEY, sha TEXT NOT NULL) STRICT;

CREATE TABLE event (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    login   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL
) STRICT;

-- +goose Down
DROP TABLE event;
DROP TABLE branch;
DROP TABLE artifact;
DROP TABLE run;
DROP TABLE comment;
DROP TABLE pull_label;
DROP TABLE pull;
DROP TABLE label;
DROP TABLE counter;
