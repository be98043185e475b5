-- A body may lie here encrypted, after it was compressed. Its checksum is then encrypted with it, and this one empty.
ALTER TABLE body ADD COLUMN sealed INTEGER;    -- 1: encrypted

-- The keys that bodies were encrypted with, by name. One that no body needs any longer is removed when it is missing at an opening.
CREATE TABLE seal_key (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
