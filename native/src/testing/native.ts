/** The native agent in a test: a tree of these entries in a folder, and a model whose answers the test writes itself. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { loadTree } from '../load.ts'
import { runTurn, type TurnEnd } from '../run-turn.ts'
import { openLog, redactor } from '../session-log.ts'
import { filesOf, type TrialEntry } from '../trial-tree.ts'
import type { ModelPlace } from '../chat.ts'
import { boundModel, sceneOf, type TurnScene } from '../turn.ts'
import { writeTree } from '@svc-ai/client/shared'
import { programOf } from '../../../test/support/built.ts'
import { json, upstream, type Heard, type FakeUpstream } from '../../../agent/src/testing/upstream.ts'

export const KEY = 'the-key-of-the-model'

export function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'svc-native-test-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export const entry = (name: string, config: Readonly<Record<string, unknown>>): TrialEntry => ({
  id: typeof config['name'] === 'string' ? config['name'] : name,
  name,
  config,
})

export const tool = (name: string, code: string, more: Readonly<Record<string, unknown>> = {}): TrialEntry =>
  entry('native_tool', { name, description: `The tool ${name}.`, capabilities: [], code, ...more })

/** A tool with arguments of its own. */
export const add = tool('add', 'export const run = ({ a, b }: { a: number; b: number }): number => a + b', {
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
})

/** The graph that a turn runs by, with its ways as `from outcome to`. */
export const graph = (stages: Readonly<Record<string, object>>, ways: readonly string[], more: object = {}): TrialEntry =>
  entry('native_graph', {
    name: 'main',
    start: Object.keys(stages)[0],
    stages,
    edges: ways.map((way) => {
      const [from, outcome, to] = way.split(' ')
      return { from, outcome, to }
    }),
    ...more,
  })

export const results = ({ events }: Played): readonly unknown[] =>
  events.filter(({ type }) => type === 'tool/result').map(({ data }) => data['content'])

/** What a model says: words, or calls by tool and arguments, or whatever the test answers itself. */
export type Line = string | { readonly [tool: string]: unknown } | ((response: ServerResponse, heard: Heard) => unknown)

/** One line after the other; the last again and again. */
export function model(...lines: readonly Line[]): Promise<FakeUpstream> {
  let asked = 0
  return upstream((heard, response) => speak(lines[Math.min(asked++, lines.length - 1)] ?? '', response, heard))
}

export function speak(line: Line, response: ServerResponse, heard: Heard): unknown {
  if (typeof line === 'function') return line(response, heard)
  if (typeof line === 'string') return json(response, 200, { choices: [{ message: { role: 'assistant', content: line } }] })
  const tool_calls = Object.entries(line).map(([name, args], index) => ({
    id: `c${index}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))
  return json(response, 200, { choices: [{ message: { role: 'assistant', content: null, tool_calls } }] })
}

/** The folder `native` of a tree, bound to the model at this address. */
export function treeFolder(entries: readonly TrialEntry[], url: string): string {
  const root = folder()
  const files = filesOf(entries)
  const settings: unknown = JSON.parse(files['native/models.json'] ?? '{}')
  const bound = { ...Object(settings), api: 'openai', base_url: `${url}/v1`, api_key: KEY, model: 'm' }
  writeTree(root, { ...files, 'native/models.json': JSON.stringify(bound) }, '{"files":[]}\n', null)
  return join(root, 'native')
}

export interface Played extends TurnEnd {
  /** What was logged, of agents too, in the order of the files. */
  readonly events: readonly LoggedEvent[]
  /** The messages of the last question. */
  readonly asked: readonly { readonly role: string; readonly content: string }[]
  readonly questions: number
  readonly workdir: string
  readonly logs: string
}
export interface LoggedEvent {
  readonly type: string
  readonly seq: number
  readonly data: Readonly<Record<string, unknown>>
}

export interface PlayOptions {
  readonly place?: Partial<ModelPlace>
  readonly scene?: Partial<TurnScene>
}

/** One turn in this process, without waiting between two attempts. */
export async function play(entries: readonly TrialEntry[], served: FakeUpstream, options: PlayOptions = {}): Promise<Played> {
  const native = treeFolder(entries, served.url)
  const workdir = join(native, '..', 'workspace')
  mkdirSync(workdir)
  const tree = loadTree(native)
  const sessions = join(native, 'sessions')
  const bound = { ...boundModel(tree), ...options.place }
  const scene = {
    ...sceneOf({ tree, model: bound, workdir, signal: new AbortController().signal }),
    wait: async () => undefined,
    ...options.scene,
  }
  const log = openLog({ folder: sessions, name: 's', redact: redactor(KEY) })
  const end = await runTurn(scene, log, [], 'the task')
  const logs = readdirSync(sessions)
    .sort()
    .map((name) => readFileSync(join(sessions, name), 'utf8'))
    .join('')
  const last: { messages?: Played['asked'] } = JSON.parse(served.heard.at(-1)?.body ?? '{}')
  const events = logs
    .trim()
    .split('\n')
    .map((line): LoggedEvent => JSON.parse(line))
  return { ...end, events, asked: last.messages ?? [], questions: served.heard.length, workdir, logs }
}

const MAIN = programOf(join(import.meta.dirname, '../main.ts'), join(import.meta.dirname, '../../dist/native.mjs'))

export interface Ran {
  readonly child: ChildProcess
  /** Everything it said so far. */
  readonly said: { readonly stdout: string; readonly stderr: string }
  readonly end: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
}

/** The program itself. */
export function start(args: readonly string[], { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): Ran {
  const child = spawn(process.execPath, ['--no-warnings', MAIN, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => (said.stdout += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said.stderr += part))
  const end = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, ...said })),
  )
  return { child, said, end }
}
