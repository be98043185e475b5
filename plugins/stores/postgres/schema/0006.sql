-- A body may lie here encrypted, compressed before. Its checksum is of what lies here.
ALTER TABLE body ADD COLUMN size integer;      -- bytes of the original of an encrypted one; null: not encrypted

-- The keys that bodies were encrypted with, by name. One that no body needs any longer is removed when it is missing at an opening.
CREATE TABLE seal_key (id text PRIMARY KEY);
