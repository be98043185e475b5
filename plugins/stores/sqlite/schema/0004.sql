-- The exchanges of one session, in their order: a report may be about them all.
CREATE INDEX record_by_session ON record (scenario, json_extract(summary, '$.session'), sequence) WHERE json_extract(summary, '$.session') IS NOT NULL;
