-- What gateways know together of the episodes that workers play: small rows of several kinds, which one gateway at a time changes.
CREATE TABLE fleet (
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at double precision NOT NULL,
  value json NOT NULL,
  PRIMARY KEY (kind, id)
) WITH (fillfactor = 50);

-- What an episode carries: its order and its result, as JSON.
CREATE TABLE fleet_payload (
  episode text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (episode, kind)
);

CREATE TABLE fleet_call (
  episode text COLLATE "C" NOT NULL,
  model bytea,
  input bigint NOT NULL,
  output bigint NOT NULL,
  cost double precision
);
CREATE INDEX fleet_call_episode ON fleet_call (episode);
