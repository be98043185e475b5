-- What was chosen at run time, by scenario. Emptied at every opening, since nobody else had the store open before.
CREATE TABLE setting (
  scenario INTEGER PRIMARY KEY,
  training_mode TEXT                           -- null: the configured one
) STRICT;

-- The newest token of each lease. Who holds one is known to the writer alone.
CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  token INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
