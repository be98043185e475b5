-- Running totals of the rows up to this one, as JSON: derived, and null until somebody worked them out.
ALTER TABLE commit_row ADD COLUMN totals TEXT;

-- The rows that made a release, the head among them, and what names a release. Few rows have one, and no row is written again.
CREATE INDEX commit_released ON commit_row (scenario, step) WHERE release <> 'null';
CREATE INDEX commit_published ON commit_row (scenario, step) WHERE release <> 'null' AND pending = 0 AND outcome = 'published';
CREATE INDEX commit_held ON commit_row (scenario, step) WHERE release <> 'null' AND pending = 1;
CREATE INDEX commit_by_release ON commit_row (scenario, json_extract(release, '$.release_id'), step) WHERE release <> 'null';
CREATE INDEX commit_by_target ON commit_row (scenario, rollback_target_release_id, step) WHERE release <> 'null' AND rollback_target_release_id IS NOT NULL;
