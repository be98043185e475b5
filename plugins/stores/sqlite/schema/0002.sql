-- A record is consumed by each component once. Ids come before components: who consumed this id, and did this component, are both one lookup.

ALTER TABLE consumed RENAME TO consumed_by_step;

CREATE TABLE consumed (
  scenario INTEGER NOT NULL,
  agent_record_id TEXT NOT NULL,
  component TEXT NOT NULL,                     -- '' in a scenario of a single trainer
  step INTEGER NOT NULL,
  PRIMARY KEY (scenario, agent_record_id, component)
) STRICT, WITHOUT ROWID;

-- In the order of its key, so that nothing is sorted and the first step of each component is the one that stays.
INSERT INTO consumed (scenario, agent_record_id, component, step)
SELECT c.scenario, c.agent_record_id, coalesce(r.component, ''), c.step
FROM consumed_by_step c LEFT JOIN commit_row r ON r.scenario = c.scenario AND r.step = c.step
ORDER BY c.scenario, c.agent_record_id, c.step
ON CONFLICT DO NOTHING;

DROP TABLE consumed_by_step;
