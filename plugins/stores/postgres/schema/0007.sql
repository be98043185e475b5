-- The search. What it keeps of a record follows from the body and goes with it, whatever takes the body.
CREATE TABLE search_entry (
  age bigint PRIMARY KEY REFERENCES body (age) ON DELETE CASCADE,
  scenario bigint NOT NULL,
  sequence bigint NOT NULL,
  created_at double precision NOT NULL,
  score double precision,                      -- its own, or that of the newest report that quotes it
  words tsvector NOT NULL,                     -- of what was asked last, and after a gap of the answer
  facts text[] NOT NULL,                       -- what is compared exactly, each as one word
  shown json NOT NULL,                         -- what a list shows of it
  UNIQUE (scenario, sequence)
);
-- Entries come many at a time: they are put into place together. A question reads those that wait.
CREATE INDEX search_by_words ON search_entry USING gin (words, facts) WITH (gin_pending_list_limit = 1024);

CREATE TABLE searched (
  scenario bigint PRIMARY KEY,
  place bigint NOT NULL                        -- records up to this sequence are there
);
