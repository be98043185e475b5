-- One set of tables for every scenario. Names and ids are bytes: they may hold NUL, and no collation decides their order.

CREATE TABLE scenario (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name bytea UNIQUE,                           -- null once archived: the name is free again
  archived_name bytea,
  head bigint NOT NULL DEFAULT 0,              -- sequence of its newest record: the numbers come from here, since those of a database sequence become visible out of order
  step integer NOT NULL DEFAULT -1,            -- its newest
  body_bytes bigint NOT NULL DEFAULT 0,        -- of its bodies still kept
  lost_records bigint NOT NULL DEFAULT 0,
  lost_bytes bigint NOT NULL DEFAULT 0,
  newest_inference bigint NOT NULL DEFAULT 0,  -- sequence of the newest record of each type: a follower sees which types are new
  newest_report bigint NOT NULL DEFAULT 0,
  newest_train bigint NOT NULL DEFAULT 0,
  training_mode text,                          -- chosen at run time; null: the configured one
  settings_changes integer NOT NULL DEFAULT 0,
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()  -- the transaction of the newest change that followers are told of
) WITH (fillfactor = 50);                      -- room beside each row, so that counting on writes no index

CREATE TABLE record (
  scenario bigint NOT NULL,
  sequence bigint NOT NULL,
  id bytea NOT NULL,
  type text NOT NULL,
  created_at double precision NOT NULL,
  refs json,                                   -- null for none
  artifact_ref bytea,
  score double precision,
  summary json,
  session bytea,                               -- of the summary
  age bigint NOT NULL,                         -- its body
  PRIMARY KEY (scenario, sequence)
);
CREATE UNIQUE INDEX record_by_id ON record (scenario, id);
-- Pages of one type skip what they do not show; inferences are the bulk and need no index of their own.
CREATE INDEX record_by_type ON record (scenario, type, sequence) WHERE type <> 'inference';
CREATE INDEX record_by_session ON record (scenario, session, sequence) WHERE session IS NOT NULL;

-- Ages ascend over all scenarios, so that the oldest body goes first. Gaps and a little disorder do no harm here.
CREATE SEQUENCE body_age;
CREATE TABLE body (
  age bigint PRIMARY KEY,
  scenario bigint NOT NULL,
  sequence bigint NOT NULL,
  checksum bytea NOT NULL,                     -- SHA-256 of the payload's bytes
  payload bytea NOT NULL
);
-- Not every server is built with it.
DO $$ BEGIN
  ALTER TABLE body ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;

-- What a resent record must equal, once capacity took its body.
CREATE TABLE evicted (
  scenario bigint NOT NULL,
  sequence bigint NOT NULL,
  digest bytea NOT NULL,
  PRIMARY KEY (scenario, sequence)
);

-- JSON as text (json, not jsonb): jsonb refuses a NUL in a text.
CREATE TABLE commit_row (
  scenario bigint NOT NULL,
  step integer NOT NULL,
  operation text NOT NULL,
  recorded_at double precision NOT NULL,
  release json,
  release_id bytea,
  pending boolean NOT NULL,
  outcome text NOT NULL,
  consumed_ids json NOT NULL,
  metrics json NOT NULL,
  state json NOT NULL,
  target bytea,                                -- the release that was published again
  component bytea,
  totals json,
  PRIMARY KEY (scenario, step)
);
CREATE INDEX commit_released ON commit_row (scenario, step) WHERE release_id IS NOT NULL;
CREATE INDEX commit_published ON commit_row (scenario, step) WHERE release_id IS NOT NULL AND NOT pending AND outcome = 'published';
CREATE INDEX commit_held ON commit_row (scenario, step) WHERE release_id IS NOT NULL AND pending;
CREATE INDEX commit_by_release ON commit_row (scenario, release_id, step) WHERE release_id IS NOT NULL;
CREATE INDEX commit_by_target ON commit_row (scenario, target, step) WHERE release_id IS NOT NULL AND target IS NOT NULL;

CREATE TABLE consumed (
  scenario bigint NOT NULL,
  id bytea NOT NULL,
  component bytea NOT NULL,                    -- empty in a scenario of a single trainer
  step integer NOT NULL,
  PRIMARY KEY (scenario, id, component)
);

-- Those who have the store open. One that did not beat for a while is gone.
CREATE TABLE member (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE lease (
  name bytea PRIMARY KEY,
  member bigint,                               -- null: free
  token bigint NOT NULL                        -- rises with every taking
);
