/** Appends that wait together: each is written once and in its order, whatever happens to the statements that write them. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { commit, counted, create, record, sequences } from '../../../conformance/store-samples.ts'
import type { ScenarioStore, Store } from '../../../src/contract/index.ts'
import { startLink, type Link } from '../../../test/support/link.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import { until } from '../../../test/support/wait.ts'
import postgres from './index.ts'

const PAGE = { after: 0, limit: 1000 }
const SLOW_MS = 1000
const WARM_RECORDS = 8

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

async function open(schema: string, url = server.url): Promise<Store> {
  const store = await postgres.plugin.make({ url, schema, connections: 4, search: false })
  onTestFinished(() => store.close())
  // It knows what a commit takes, and so when two statements pay.
  const warm = await create(store, `warm-${randomUUID()}`)
  for (const at of counted(WARM_RECORDS)) await warm.append([record(`warm-${at}`)])
  return store
}

async function openBehind(schema: string): Promise<{ readonly store: Store; readonly link: Link }> {
  const link = await startLink(server.port)
  onTestFinished(() => link.close())
  return { store: await open(schema, server.networkUrl.replace(`:${server.port}/`, `:${link.port}/`)), link }
}

const appendEach = (a: ScenarioStore, ids: readonly string[]) => ids.map((id) => a.append([record(id)]))
const idsOf = async (a: ScenarioStore): Promise<readonly string[]> => (await a.records(PAGE)).map(({ agent_record_id }) => agent_record_id)
const transactionsOf = (schema: string): number =>
  Number(server.sql(`SELECT count(DISTINCT xmin::text) FROM ${schema}.record WHERE convert_from(id, 'UTF8') NOT LIKE 'warm-%'`))

describe.each([
  { what: 'a statement', calls: 24 },
  { what: 'two statements, one sent behind the other', calls: 200 },
])('as many as $what takes', ({ calls }) => {
  const at = (schema: string): string => `${schema}_${calls}`
  const named = (prefix: string): readonly string[] => counted(calls).map((place) => `${prefix}-${place}`)

  it('a step that lands between them is seen by those after it, and by none before', async () => {
    const a = await create(await open(at('between')), 'a')
    const first = appendEach(a, named('first'))
    const landing = a.commit(commit(1))
    const second = appendEach(a, named('second'))
    const steps = (await Promise.all([...first, ...second])).map(({ step }) => step)
    await landing
    expect(steps).toEqual([...counted(calls).map(() => 0), ...counted(calls).map(() => 1)])
    expect(await idsOf(a)).toEqual([...named('first'), ...named('second')])
    expect(transactionsOf(at('between'))).toBeGreaterThanOrEqual(2)
  })

  it('one that is there already is answered, one that differs from it is refused, and those around them are written once', async () => {
    const a = await create(await open(at('again')), 'a')
    await a.append([record('r-7'), record('r-20', { payload: Buffer.from('{}') })])
    const ends = await Promise.allSettled(appendEach(a, named('r')))
    expect(ends.flatMap(({ status }, place) => (status === 'rejected' ? [place + 1] : []))).toEqual([20])
    expect(sequences(await a.records(PAGE))).toEqual(counted(calls))
    expect((await idsOf(a)).toSorted()).toEqual(named('r').toSorted())
  })

  it('one that the server refuses takes those of its statement with it, and what comes next is written without a gap', async () => {
    const a = await create(await open(at('refused')), 'a')
    server.sql(`ALTER TABLE ${at('refused')}.record ADD CHECK (convert_from(id, 'UTF8') <> 'r-12')`)
    const asked = Promise.allSettled(appendEach(a, named('r')))
    const landing = a.commit(commit(1))
    const next = appendEach(a, named('next'))
    const written = (await asked).flatMap(({ status }, place) => (status === 'fulfilled' ? [`r-${place + 1}`] : []))
    await Promise.all([landing, ...next])
    expect(written).not.toContain('r-1')
    expect(await idsOf(a)).toEqual([...written, ...named('next')])
    expect(sequences(await a.records(PAGE))).toEqual(counted(written.length + calls))
  })

  it('a connection that is cut before the server heard of them: each is written once', async () => {
    const { store, link } = await openBehind(at('unheard'))
    const a = await create(store, 'a')
    link.holdOpen()
    const appends = appendEach(a, named('r'))
    await new Promise(setImmediate)
    link.cut()
    await Promise.all(appends)
    expect(sequences(await a.records(PAGE))).toEqual(counted(calls))
    expect((await idsOf(a)).toSorted()).toEqual(named('r').toSorted())
  })

  it('a connection that is cut after they were written and before the answer: each is answered, and there once', async () => {
    const { store, link } = await openBehind(at('unanswered'))
    const a = await create(store, 'a')
    link.delay(SLOW_MS)
    const appends = appendEach(a, named('r'))
    await until(
      () => server.sql(`SELECT count(*) FROM ${at('unanswered')}.record WHERE convert_from(id, 'UTF8') LIKE 'r-%'`) === String(calls),
    )
    link.delay(0)
    link.cut()
    const answers = await Promise.all(appends)
    expect(answers.map(({ rows }) => rows[0]?.sequence)).toEqual(counted(calls))
    expect(await idsOf(a)).toEqual(named('r'))
    expect(transactionsOf(at('unanswered'))).toBeGreaterThanOrEqual(1)
  })

  it('a connection that the server ends in the middle of them: each is written once', async () => {
    const a = await create(await open(at('ended')), 'a')
    const schema = at('ended')
    server.sql(`CREATE SEQUENCE ${schema}.times`)
    server.sql(`CREATE FUNCTION ${schema}.leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF convert_from(NEW.id, 'UTF8') = 'r-12' AND nextval('${schema}.times') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NEW; END $$`)
    server.sql(`CREATE TRIGGER leave BEFORE INSERT ON ${schema}.record FOR EACH ROW EXECUTE FUNCTION ${schema}.leave()`)
    await Promise.all(appendEach(a, named('r')))
    expect(server.sql(`SELECT last_value FROM ${schema}.times`)).toBe('2')
    expect(sequences(await a.records(PAGE))).toEqual(counted(calls))
  })

  it('two services that append to the same two scenarios at once: no gap, and nothing twice', async () => {
    const [one, other] = [await open(at('shared')), await open(at('shared'))]
    const names = ['a', 'b']
    for (const name of names) await create(one, name)
    await Promise.all(
      [one, other].flatMap((store, place) => names.flatMap((name) => appendEach(store.scenario(name), named(`${place}-${name}`)))),
    )
    for (const name of names) expect(sequences(await one.scenario(name).records(PAGE))).toEqual(counted(2 * calls))
  })

  it('a scenario that another service archived meanwhile: they are written to the one of that name that is there now', async () => {
    const [store, beside] = [await open(at('archived')), await open(at('archived'))]
    const a = await create(store, 'a')
    await beside.archive('a')
    await create(beside, 'a')
    await Promise.all(appendEach(a, named('r')))
    expect(await idsOf(beside.scenario('a'))).toEqual(named('r'))
  })
})
