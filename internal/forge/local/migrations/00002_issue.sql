-- +goose Up
CREATE TABLE issue (
    number  INTEGER PRIMARY KEY,
    id      INTEGER NOT NULL,
    node_id TEXT NOT NULL UNIQUE,
    title   TEXT NOT NULL,
    body    TEXT NOT NULL,
    author  TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE issue;
