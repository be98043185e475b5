-- The tokens of the deployment, by name. Of a secret its hash alone is kept.
CREATE TABLE token (
  name text COLLATE "C" PRIMARY KEY,
  digest text NOT NULL UNIQUE,                 -- SHA-256 of the secret, as hex
  value json NOT NULL                          -- all of it
);
-- How often the tokens changed: followers see by it that they did. One row, which every change locks.
CREATE TABLE deployment (token_changes bigint NOT NULL);
INSERT INTO deployment VALUES (0);

-- Who did what to the deployment. Rows are added, and nothing else.
CREATE TABLE audit (
  sequence bigint PRIMARY KEY,
  id text NOT NULL UNIQUE,
  entry json NOT NULL
);
CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit is append-only';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only();
