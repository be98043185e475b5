-- The name of a member that serves; null for those that only look at the store or write to it.
ALTER TABLE member ADD COLUMN serves text;

-- Which step of a scenario a member serves: whoever moves a head waits for it. Lost with a crash of the server, and written again with the next step.
CREATE UNLOGGED TABLE followed (
  member bigint NOT NULL,
  scenario bigint NOT NULL,
  step integer NOT NULL,
  PRIMARY KEY (member, scenario)
) WITH (fillfactor = 50);
