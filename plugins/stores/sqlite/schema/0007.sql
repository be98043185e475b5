-- A body may lie here compressed. No table that is there is read for this, so that a large store opens at once.
ALTER TABLE body ADD COLUMN size INTEGER;      -- bytes of the original; null when the payload is the original

-- The bodies that are compressed against an earlier one of their scenario, their base, which stays as long. A base has no base itself.
CREATE TABLE body_base (
  age INTEGER PRIMARY KEY REFERENCES body (age) ON DELETE CASCADE,
  base INTEGER NOT NULL REFERENCES body (age),
  prefix INTEGER NOT NULL                      -- how many bytes of its base it begins with
) STRICT;

CREATE INDEX body_base_by_base ON body_base (base);

-- Bodies up to this age have been looked at and are compressed where that pays. One row.
CREATE TABLE compression (age INTEGER NOT NULL) STRICT;
INSERT INTO compression VALUES (0);
