-- Documents beside the records, which every service of this database sees. One that is added to has several parts, each at the byte it starts.
CREATE TABLE document (
  owner text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  start bigint NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (owner, path, start)
);
