/** Processes of `svc worker` at two gateways over one PostgreSQL: a step's caps, a worker that is lost, and a step that is cancelled. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { rowsOf } from '../spec/support/helpers.ts'
import { memberOf } from '../spec/support/trainee.ts'
import { startCommand, type Command } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { deploymentIn, Gateway, SCENARIO } from '../support/gateways.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { argumentsOf, type Settings } from '../support/settings.ts'
import { sendJson, startUpstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { wordHarness } from '../support/word-harness.ts'

const PATH = `/svc/scenarios/${SCENARIO}`
const EXECUTOR = join(import.meta.dirname, '../fixtures/evolution/asking-executor.ts')
const TASKS = 24
const PAIRS_AT_ONCE = 4
/** Of an answer, which is as long as its call allows. */
const ANSWER_TOKENS = 20
const PRICE_PER_MILLION = 1000
/** What a step may take: it reaches that in the middle. */
const TOKENS = 2000
/** No call is larger. */
const CALL_TOKENS_MAX = 300

let database: PostgresServer
beforeAll(async () => {
  database = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => database.stop())

interface Deployment {
  readonly gateways: readonly [Gateway, Gateway]
  /** `svc worker` at one of them; its lines are JSON. */
  readonly worker: (at: Gateway, name: string, slots: number) => Command
}

async function deploy(schema: string, adapter: string, more: Settings): Promise<Deployment> {
  const folder = temporaryFolder()
  const settings: Settings = { ...wordHarness(folder, adapter), ...deploymentIn(folder, database, schema), ...more }
  const own = { ...settings, 'evolution.episode_host': 'workers', 'evolution.episode_workers': PAIRS_AT_ONCE }
  const gateways = await Promise.all([Gateway.start(join(folder, 'a'), own), Gateway.start(join(folder, 'b'), own)])
  onTestFinished(async () => void (await Promise.all(gateways.map((gateway) => gateway.kill()))))
  const [a, b] = gateways
  // The first one trains.
  expect((await a.post('/svc/scenarios', { name: SCENARIO })).status).toBe(201)
  return {
    gateways: [a, b],
    worker(at, name, slots) {
      const given = argumentsOf({ ...settings, 'storage.agent_record_dir': join(folder, name) })
      const run = startCommand(['worker', '--url', at.address, '--slots', `${slots}`, '--name', name, '--json', ...given])
      onTestFinished(() => run.signal('SIGKILL'))
      return run
    },
  }
}

const ask = (at: Gateway): Promise<unknown> => at.post('/svc/train', { text: 'Say what is right.', session: 's', release_id: 'r' })
const eventsOf = ({ out }: Command, wanted: string): readonly JsonObject[] =>
  out
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line): JsonObject => JSON.parse(line))
    .filter(({ event }) => event === wanted)

it.each<[title: string, cap: Settings]>([
  ['tokens', { 'evolution.max_tokens_per_step': TOKENS }],
  ['money', { 'evolution.max_cost_per_step': (TOKENS * PRICE_PER_MILLION) / 1e6 }],
])("a step's cap of %s is not passed by what workers of two gateways take together", { timeout: 120_000 }, async (title, cap) => {
  const { upstream, taken } = await counting()
  const { gateways, worker } = await deploy(`caps_${title}`, 'asking-adapter.ts', { ...askingAt(upstream.url), ...cap })
  const [a, b] = gateways
  const workers = [worker(a, 'at-a', 2), worker(b, 'at-b', 2)]
  await until(async () => rowsOf(await a.get('/svc/fleet'), 'workers').length === 2)
  await ask(a)
  const row = await firstRow(b)
  for (const each of workers) expect(eventsOf(each, 'played').length).toBeGreaterThan(0)
  expect(taken.mostAtOnce).toBeGreaterThan(1)
  expect(taken.input + taken.output).toBeLessThanOrEqual(TOKENS)
  // It is used up as far as whole calls go.
  expect(taken.input + taken.output).toBeGreaterThan(TOKENS - CALL_TOKENS_MAX)
  const metrics = memberOf(row, 'metrics')
  expect(memberOf(metrics, 'spent')).toMatchObject({ calls: taken.calls, input_tokens: taken.input, output_tokens: taken.output })
  const key = title === 'tokens' ? 'max_tokens_per_step' : 'max_cost_per_step'
  expect(memberOf(metrics, 'selection')).toMatchObject({ reason: expect.stringContaining(`raise evolution.${key}`) })
})

it('a call of a gateway that was killed counts as the most that it may have taken', { timeout: 120_000 }, async () => {
  const { upstream, taken, hangFirst } = await counting()
  hangFirst()
  const { gateways, worker } = await deploy('caps_killed', 'asking-adapter.ts', {
    ...askingAt(upstream.url),
    'evolution.max_tokens_per_step': TOKENS,
  })
  const [a, b] = gateways
  worker(b, 'at-b', 1)
  await until(async () => rowsOf(await a.get('/svc/fleet'), 'workers').length === 1)
  await ask(a)
  await until(() => upstream.received.length === 1)
  const [lost] = upstream.received
  await b.kill()
  worker(a, 'at-a', 2)
  const { calls, input_tokens: input, output_tokens: output } = Object(memberOf(memberOf(await firstRow(a), 'metrics'), 'spent'))
  expect(calls).toBe(taken.calls + 1)
  expect(output).toBe(taken.output + ANSWER_TOKENS)
  expect(input - taken.input).toBeGreaterThanOrEqual(Math.floor((lost?.body.length ?? 0) * SAID_SHARE))
  expect(input + output).toBeLessThanOrEqual(TOKENS)
})

/** A model that says what its calls took, which is somewhat less than they could have. */
async function counting() {
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const taken = { calls: 0, input: 0, output: 0, mostAtOnce: 0 }
  let hangs = false
  upstream.answer(async ({ body }, response) => {
    taken.mostAtOnce = Math.max(taken.mostAtOnce, upstream.open)
    if (hangs) {
      hangs = false
      return
    }
    await sleep(ANSWER_MS)
    const input = Math.floor(body.length * SAID_SHARE)
    taken.calls += 1
    taken.input += input
    taken.output += ANSWER_TOKENS
    sendJson(response, 200, completion(input))
  })
  return { upstream, taken, hangFirst: () => void (hangs = true) }
}
/** So that calls are under way at both gateways. */
const ANSWER_MS = 50
const SAID_SHARE = 0.9

const askingAt = (url: string): Settings => ({
  'inference.runtime': 'provider',
  'inference.upstream_url': url,
  'inference.upstream_model': 'm',
  'evolution.executor': EXECUTOR,
  'evolution.tasks': JSON.stringify(
    Array.from({ length: TASKS }, (_, at) => ({ name: `task-${at}`, prompt: `Task ${at}.`, answer: 'right' })),
  ),
  'evolution.prices.m.input': PRICE_PER_MILLION,
  'evolution.prices.m.output': PRICE_PER_MILLION,
})

async function firstRow(at: Gateway): Promise<JsonObject> {
  let rows: readonly JsonObject[] = []
  await until(async () => (rows = rowsOf(await at.get(`${PATH}/commits?limit=1`), 'commits')).length === 1)
  return rows[0] ?? {}
}

const completion = (input: number): JsonObject => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'right' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: input, completion_tokens: ANSWER_TOKENS, total_tokens: input + ANSWER_TOKENS },
})

it(
  'a worker that is killed loses its episode to one of the other gateway, and the agents of a cancelled step end',
  { timeout: 120_000 },
  async () => {
    const agents = join(temporaryFolder(), 'agents')
    mkdirSync(agents)
    onTestFinished(() =>
      pidsIn(agents)
        .filter(isAlive)
        .forEach((pid) => process.kill(pid, 'SIGKILL')),
    )
    const { gateways, worker } = await deploy('lost', 'lingering-adapter.ts', {
      'evolution.tasks': JSON.stringify([{ name: 'long', prompt: agents, answer: 'never' }]),
      'evolution.episode_timeout_s': 600,
    })
    const [a, b] = gateways
    const lost = worker(b, 'lost', 1)
    await until(async () => rowsOf(await a.get('/svc/fleet'), 'workers').length === 1)
    await ask(a)
    await lost.said('"taken"')
    await until(() => pidsIn(agents).length === 1)
    // The agent of the worker that was killed has nobody who ends it.
    const [orphan = 0] = pidsIn(agents)
    const second = worker(a, 'second', 1)
    await until(async () => rowsOf(await a.get('/svc/fleet'), 'workers').length === 2)
    lost.signal('SIGKILL')
    const killedAt = performance.now()
    await second.said('"taken"')
    print('retaken after', killedAt, 30)

    await until(() => pidsIn(agents).length === 2)
    const agent = pidsIn(agents).find((pid) => pid !== orphan) ?? 0
    // Deleted at the gateway that does not train it: nobody needs its step any more.
    expect((await b.remove(PATH)).status).toBe(200)
    const cancelledAt = performance.now()
    await until(() => !isAlive(agent))
    print('cancelled after', cancelledAt, 2)
    await second.said('"cancelled"')
    expect((await a.get('/svc/fleet')).json).toMatchObject({ waiting: 0, running: 0 })
  },
)

const pidsIn = (folder: string): readonly number[] => readdirSync(folder).map(Number)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const print = (what: string, since: number, goal: number): void =>
  void process.stdout.write(`${what} ${((performance.now() - since) / 1000).toFixed(1)} s, of at most ${goal} s\n`)
