/** The whole loop with the mock model: an agent fails, a report or request follows, and the agent that follows the head improves. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { COMPILED } from '../support/compiled.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { named, rowsOf, textAt } from '../spec/support/helpers.ts'
import { fresh, type Trainee } from '../spec/support/trainee.ts'
import { program } from '../support/programs.ts'
import { lastLine, ROMAN_LESSON, ROMAN_RULE, ROMAN_TASKS, romanPrompt, ROMANS_ASKED } from '../support/romans.ts'
import { until } from '../support/wait.ts'
import { world, type World } from '../support/world.ts'

const NATIVE = createRequire(import.meta.url).resolve('@svc-ai/native')
const MINUTES = 60_000

let here: World
beforeAll(() => void program('bwrap'))
afterEach(() => here.close())

async function open(): Promise<Trainee> {
  here = await world({ backend: 'sqlite' })
  const { directory } = here
  await here.restart({
    recipe: 'harness',
    'inference.runtime': 'practice',
    'data.training_mode': 'hybrid',
    'evolution.executor': 'sandbox',
    'evolution.seed': JSON.stringify([ROMAN_RULE]),
    'evolution.tasks': JSON.stringify(ROMAN_TASKS.slice(0, 10)),
    'evolution.margin': 0.3,
    'evolution.proposals_dir': join(directory, 'proposals'),
    'evolution.step_record_dir': join(directory, 'steps'),
  })
  return fresh(here)
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** `svc-native` with these words, in a home and a folder of the test's own. */
async function native(words: readonly string[]): Promise<Ended> {
  const child = start(words)
  const printed = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (printed.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (printed.err += text))
  const [code]: unknown[] = await once(child, 'close')
  return { code: typeof code === 'number' ? code : null, ...printed }
}

const start = (words: readonly string[]) =>
  spawn(process.execPath, [NATIVE, ...words], {
    cwd: here.directory,
    env: {
      ...COMPILED,
      PATH: process.env['PATH'] ?? '',
      HOME: here.directory,
      REEF_HARNESS_CAPTURES_DIR: join(here.directory, 'captures'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** An agent that follows the head of the scenario. */
async function resident(s: Trainee): Promise<{ readonly tree: string; release(): Promise<unknown> }> {
  const tree = join(here.directory, 'tree')
  const serving = start(['serve', '--tree', tree, '--scenario', s.name, '--url', here.address, '--follow', 'head', '--poll-interval', '1'])
  serving.stderr.resume()
  serving.stdout.resume()
  onTestFinished(() => void serving.kill('SIGKILL'))
  const release = async (): Promise<unknown> => {
    const { code, out } = await native(['status', '--tree', tree, '--json'])
    const status: JsonObject = code === 0 ? JSON.parse(out) : {}
    return status['release_id']
  }
  await until(async () => (await release()) !== undefined)
  return { tree, release }
}

const passes = async (tree: string, number: string): Promise<boolean> => {
  const { out } = await native(['turn', '--tree', tree, '-p', romanPrompt(number), '--quiet'])
  return lastLine(out) === ROMANS_ASKED[number]
}

it(
  'traffic, a failing report, a step on evidence, a release, and the agent that follows it passes the same task',
  async () => {
    const s = await open()
    const agent = await resident(s)
    const failed: string[] = []
    for (const number of Object.keys(ROMANS_ASKED)) {
      if (await passes(agent.tree, number)) continue
      failed.push(number)
      const before = (await s.rows()).length
      const reported = await native(['report', '--tree', agent.tree, '--score', '0', '--feedback', 'The numeral is wrong.'])
      expect(reported).toMatchObject({ code: 0 })
      await until(async () => (await s.rows()).length > before)
      if ((await s.release())['result'] === 'published') break
    }
    const row = await s.release()
    expect(row).toMatchObject({ result: 'published', metrics: { selection: { policy: 'evidence' }, evidence: { test: 'superiority' } } })
    await until(async () => (await agent.release()) === row['release_id'])
    const [first = ''] = failed
    expect(await passes(agent.tree, first)).toBe(true)
  },
  10 * MINUTES,
)

it(
  'a request in plain words, followed until it is settled, makes the agent do what was asked for',
  async () => {
    const s = await open()
    const agent = await resident(s)
    const number = await firstFailing(agent.tree)
    const asked = await native(['harness', ROMAN_LESSON, '--tree', agent.tree, '--wait', '--timeout', '500'])
    expect(asked).toMatchObject({ code: 0 })
    const row = await s.release()
    expect(row).toMatchObject({
      result: 'published',
      training_request: { text: ROMAN_LESSON },
      metrics: { evidence: { test: 'non_inferiority' } },
    })
    await until(async () => (await agent.release()) === row['release_id'])
    expect(await passes(agent.tree, number)).toBe(true)
    const { json } = await here.get('/svc/harness/releases', named(s.name))
    expect(textAt(rowsOf({ json }, 'releases').at(-1) ?? {}, 'page_path')).toContain('/page')
  },
  10 * MINUTES,
)

async function firstFailing(tree: string): Promise<string> {
  for (const number of Object.keys(ROMANS_ASKED)) if (!(await passes(tree, number))) return number
  throw new Error('the mock model fails at none of them: nothing can be learnt here')
}
