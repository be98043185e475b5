-- Bodies that were removed because of their age, apart from those that capacity took.
ALTER TABLE scenario ADD COLUMN expired_records INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scenario ADD COLUMN expired_bytes INTEGER NOT NULL DEFAULT 0;
