-- A body may lie here compressed: on its own, or against an earlier one of its scenario, its base. A base has no base itself.

ALTER TABLE body ADD COLUMN size INTEGER;                       -- bytes of the original; null when the payload is the original
ALTER TABLE body ADD COLUMN base INTEGER REFERENCES body (age); -- its dictionary; stays as long as it is one
ALTER TABLE body ADD COLUMN prefix INTEGER;                     -- how many bytes of its base it begins with

CREATE INDEX body_by_base ON body (base) WHERE base IS NOT NULL;

-- Bodies up to this age have been looked at and are compressed where that pays. One row.
CREATE TABLE compression (age INTEGER NOT NULL) STRICT;
INSERT INTO compression VALUES (0);
