-- One database for every scenario. A record's row stays for good; its body goes when capacity needs the room.

CREATE TABLE scenario (
  key INTEGER PRIMARY KEY,
  name TEXT UNIQUE,                            -- null once archived: the name is free again
  archived_name TEXT,
  archive TEXT,                                -- where its export lies, or will lie once the name is null
  cleared INTEGER NOT NULL DEFAULT 0,          -- 1 when no row of an archived scenario is left here
  head INTEGER NOT NULL DEFAULT 0,             -- sequence of its newest record
  body_bytes INTEGER NOT NULL DEFAULT 0,       -- of its bodies still kept
  lost_records INTEGER NOT NULL DEFAULT 0,
  lost_bytes INTEGER NOT NULL DEFAULT 0,
  lost_first_sequence INTEGER,
  lost_last_sequence INTEGER
) STRICT;

CREATE INDEX scenario_to_clear ON scenario (key) WHERE name IS NULL AND cleared = 0;

CREATE TABLE record (
  scenario INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  agent_record_id TEXT NOT NULL,
  request_type TEXT NOT NULL,
  created_at REAL NOT NULL,
  "references" TEXT,                           -- JSON; null for none
  artifact_ref TEXT,
  score REAL,
  digest BLOB,                                 -- what a resent record must equal; known once the body is gone
  age INTEGER,                                 -- its body; null once evicted
  PRIMARY KEY (scenario, sequence)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX record_by_id ON record (scenario, agent_record_id);

-- Pages of one type skip what they do not show; inferences are the bulk and need no index of their own.
CREATE INDEX record_by_type ON record (scenario, request_type, sequence) WHERE request_type <> 'inference';

CREATE TABLE body (
  age INTEGER PRIMARY KEY,                     -- ascending over all scenarios: the oldest goes first
  scenario INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  checksum BLOB NOT NULL,                      -- SHA-256 of the payload's bytes
  payload BLOB NOT NULL
) STRICT;

CREATE TABLE commit_row (
  scenario INTEGER NOT NULL,
  step INTEGER NOT NULL,
  operation TEXT NOT NULL,
  recorded_at REAL NOT NULL,
  release TEXT NOT NULL,                       -- JSON, like the ids, metrics and state
  pending INTEGER NOT NULL,
  consumed_ids TEXT NOT NULL,
  metrics TEXT NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT NOT NULL,
  rollback_target_release_id TEXT,
  component TEXT,
  PRIMARY KEY (scenario, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE consumed (
  scenario INTEGER NOT NULL,
  agent_record_id TEXT NOT NULL,
  step INTEGER NOT NULL,
  PRIMARY KEY (scenario, agent_record_id, step)
) STRICT, WITHOUT ROWID;
