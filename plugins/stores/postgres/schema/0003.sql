-- What all services together took of a limit: a row for each limit of a token or a scenario, which everybody who takes of it locks.
CREATE TABLE allowance (
  key bytea PRIMARY KEY,
  window_index bigint NOT NULL,                -- of the window that is counted; 0 where none passes
  carried double precision NOT NULL,           -- taken beyond earlier windows, and spent in this one by members that are gone
  used_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
-- What each member has of it.
CREATE TABLE share (
  key bytea,
  member bigint,
  spent double precision NOT NULL,
  held double precision NOT NULL,              -- not spent yet: free again once the member is gone
  PRIMARY KEY (key, member)
) WITH (fillfactor = 50);

-- Asks come in the order of their keys, so that two calls never wait for each other. Answers nothing to a member that counts as gone.
CREATE FUNCTION take_shares(me bigint, lifetime_seconds double precision, asks json)
  RETURNS TABLE (granted double precision, window_now bigint, ends_in double precision, members bigint) LANGUAGE plpgsql AS $$
DECLARE
  ask record;
  counted allowance;
  alive_since timestamptz := clock_timestamp() - make_interval(secs => lifetime_seconds);
  seconds_now double precision;
  passed bigint;
  own_spent double precision;
  own_held double precision;
  others_spent double precision;
  others_held double precision;
  gone_spent double precision;
  gone bigint;
  remaining double precision;
BEGIN
  -- A server that crashes may forget the last moment of the counts; a flush for each of them would cost as much as a record.
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT count(*) INTO members FROM member m WHERE m.beat_at > alive_since;
  IF NOT EXISTS (SELECT 1 FROM member m WHERE m.id = me AND m.beat_at > alive_since) THEN
    RETURN;
  END IF;
  FOR ask IN
    SELECT decode(a.key, 'hex') AS key, a.seconds, a."limit" AS most, a.of_window, a.spent, a.held, a.need, a.unit, a.extra
    FROM json_to_recordset(asks) AS a (key text, seconds double precision, "limit" double precision, of_window bigint,
      spent double precision, held double precision, need double precision, unit double precision, extra double precision)
  LOOP
    INSERT INTO allowance (key, window_index, carried) VALUES (ask.key, 0, 0) ON CONFLICT DO NOTHING;
    SELECT * INTO counted FROM allowance a WHERE a.key = ask.key FOR UPDATE;
    seconds_now := extract(epoch FROM clock_timestamp());
    window_now := CASE WHEN ask.seconds > 0 THEN floor(seconds_now / ask.seconds) ELSE 0 END;
    SELECT coalesce(sum(s.spent) FILTER (WHERE s.is_alive), 0), coalesce(sum(s.held) FILTER (WHERE s.is_alive), 0),
           coalesce(sum(s.spent) FILTER (WHERE NOT s.is_alive), 0), count(*) FILTER (WHERE NOT s.is_alive)
      INTO others_spent, others_held, gone_spent, gone
      FROM (SELECT x.spent, x.held, EXISTS (SELECT 1 FROM member m WHERE m.id = x.member AND m.beat_at > alive_since) AS is_alive
            FROM share x WHERE x.key = ask.key AND x.member <> me) s;
    own_spent := CASE WHEN ask.of_window = counted.window_index THEN ask.spent ELSE 0 END;
    own_held := CASE WHEN ask.of_window = window_now THEN ask.held ELSE 0 END;
    IF counted.window_index <> window_now THEN
      -- A clock that was set back begins a window too: none is longer than it should be.
      passed := greatest(1, window_now - counted.window_index);
      counted.carried := greatest(0, counted.carried + others_spent + gone_spent + own_spent - ask.most * passed);
      DELETE FROM share s WHERE s.key = ask.key;
      others_spent := 0;
      others_held := 0;
      own_spent := 0;
    ELSIF gone > 0 THEN
      counted.carried := counted.carried + gone_spent;
      DELETE FROM share s WHERE s.key = ask.key AND s.member <> me
        AND NOT EXISTS (SELECT 1 FROM member m WHERE m.id = s.member AND m.beat_at > alive_since);
    END IF;
    granted := 0;
    remaining := ask.most - counted.carried - others_spent - others_held - own_spent - own_held;
    IF remaining > ask.most * 1e-9 THEN
      granted := least(ask.need, ceil(remaining / ask.unit) * ask.unit);
      granted := granted + greatest(0, least(ask.extra, floor((remaining - granted) / (2 * members) / ask.unit) * ask.unit));
    END IF;
    UPDATE allowance a SET window_index = window_now, carried = counted.carried, used_at = clock_timestamp() WHERE a.key = ask.key;
    INSERT INTO share (key, member, spent, held) VALUES (ask.key, me, own_spent, own_held + granted)
      ON CONFLICT (key, member) DO UPDATE SET spent = excluded.spent, held = excluded.held;
    ends_in := CASE WHEN ask.seconds > 0 THEN (window_now + 1) * ask.seconds - seconds_now ELSE 0 END;
    RETURN NEXT;
  END LOOP;
END $$;
