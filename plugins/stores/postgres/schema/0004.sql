-- Bodies that were removed because of their age, apart from those that capacity took.
ALTER TABLE scenario ADD COLUMN expired_records bigint NOT NULL DEFAULT 0, ADD COLUMN expired_bytes bigint NOT NULL DEFAULT 0;
