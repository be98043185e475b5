-- What a search is narrowed to besides words. Few records have a certain score, and the oldest ones are far from where a search begins.
CREATE INDEX search_by_score ON search_entry (scenario, score) WHERE score IS NOT NULL;
CREATE INDEX search_by_time ON search_entry (scenario, created_at, sequence);
