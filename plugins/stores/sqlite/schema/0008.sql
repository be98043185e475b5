-- The tokens of the deployment, by name. Of a secret its hash alone is kept.
CREATE TABLE token (
  name TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,                 -- SHA-256 of the secret, as hex
  value TEXT NOT NULL                          -- the rest of it, as JSON
) STRICT, WITHOUT ROWID;

-- Who did what to the deployment. Rows are added, and nothing else.
CREATE TABLE audit (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  entry TEXT NOT NULL                          -- JSON
) STRICT;

CREATE TRIGGER audit_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_not_removed BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
