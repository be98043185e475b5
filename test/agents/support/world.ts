/** A service with one scenario, a scripted model, and a home with the real agent installed. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import {
  isObject,
  type Entry,
  type Files,
  type Json,
  type JsonObject,
  type ModelApi,
  type RequestType,
} from '../../../src/contract/index.ts'
import type { Settings } from '../../support/settings.ts'
import type { Received, Script } from '../../support/upstream.ts'
import { world, type Answer, type World } from '../../support/world.ts'
import { makeHome, type Ended, type Home, type Running, type Variables } from './home.ts'

export interface AgentSpec {
  readonly adapter: string
  /** The format it prefers. */
  readonly api: ModelApi
  /** Further seed entries. */
  readonly seed: readonly Entry[]
  /** Further settings of the service. */
  readonly settings?: Settings
  /** Existing files of the home. */
  readonly home?: Files
  /** Makes the scenario that is installed; without it the install line makes one. */
  readonly begin?: (here: World) => Promise<string>
}

export interface AgentWorld {
  readonly here: World
  readonly home: Home
  /** The agent's program, without the wrapper. */
  readonly program: string
  readonly installAgain: () => Promise<Ended>
  /** `svc-<adapter>` with these arguments. */
  readonly start: (args: readonly string[], env?: Variables) => Running
  readonly run: (args: readonly string[], env?: Variables) => Promise<Ended>
  /** Runs a successful session that prints the model's answer; returns the model's requests. */
  readonly session: (args: readonly string[], model: Script, env?: Variables) => Promise<readonly Received[]>
  readonly records: (type: RequestType) => Promise<readonly Kept[]>
  /** A request with the token and the scenario. */
  readonly ask: (method: string, path: string, body: object) => Promise<Answer>
  /** The harness catalog, oldest first. */
  readonly catalog: () => Promise<readonly JsonObject[]>
  /** The release that is served. */
  readonly head: () => Promise<string>
  readonly close: () => Promise<void>
}

interface Kept {
  readonly id: string
  readonly release: Json
  readonly score: Json
  readonly references: Json
  readonly payload: JsonObject
  readonly tags: JsonObject
}

export const ANSWER = 'The scripted model has spoken.'

export const TOKEN = 'the-service-token'
const RECIPE = join(import.meta.dirname, '../../../examples/recipe/standing-orders.ts')
const SKILL = '# MARK_SKILL_LISTED: how to be brief\n\nMARK_SKILL_BODY: leave out words.'
/** The entries of every such service. */
export const MARKED: readonly Entry[] = [
  { id: 'mark-rule', name: 'rules', config: { text: 'MARK_RULE: be brief.' } },
  { id: 'mark-skill', name: 'skill', config: { name: 'mark-skill', text: SKILL } },
  { id: 'mark-command', name: 'agent_command', config: { name: 'mark-command', text: 'MARK_COMMAND: look at $ARGUMENTS' } },
]

export async function openAgentWorld(spec: AgentSpec): Promise<AgentWorld> {
  const here = await world({ backend: 'sqlite', settings: settingsFor(spec) })
  const home = makeHome()
  const close = async (): Promise<void> => {
    await here.close()
    home.close()
  }
  try {
    writeFiles(home.folder, spec.home ?? {})
    await installOrFail(here, home, spec)
    return { here, home, close, ...partsOf(spec, here, home) }
  } catch (error) {
    await close()
    throw error
  }
}

const settingsFor = ({ adapter, api, seed, settings }: AgentSpec): Settings => ({
  'svc.token': TOKEN,
  recipe: RECIPE,
  'data.training_mode': 'manual',
  'inference.upstream_model': 'm',
  'inference.upstream_api': api,
  'evolution.adapter': adapter,
  'evolution.seed': JSON.stringify([...MARKED, ...seed]),
  ...settings,
})

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** The install command line. Without a scenario it makes one. */
function install({ address }: World, home: Home, { adapter }: AgentSpec, scenario?: string): Promise<Ended> {
  const named = scenario === undefined ? '' : `-H 'x-svc-scenario: ${scenario}'`
  const line = `curl -sS -H "authorization: Bearer $SVC_TOKEN" ${named} '${address}/svc/harness/install?adapter=${adapter}' | sh`
  return home.run('sh', ['-c', line], { SVC_TOKEN: TOKEN, ...home.npm })
}

async function installOrFail(here: World, home: Home, spec: AgentSpec): Promise<void> {
  const begun = performance.now()
  const { out, err } = await install(here, home, spec, await spec.begin?.(here))
  tell(`${spec.adapter}: installing`, begun)
  // A shell with empty input succeeds, so its exit status proves nothing.
  if (out.includes('installed release')) return
  process.stderr.write(err)
  throw new Error(`${spec.adapter} could not be installed: ${err.trim().split('\n').at(-1)}`)
}

/** Prints timings. */
const tell = (what: string, begun: number): void =>
  void process.stderr.write(`${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s\n`)

function partsOf(spec: AgentSpec, here: World, home: Home): Omit<AgentWorld, 'here' | 'home' | 'close'> {
  const { scenario, executable, install: pinned } = recordIn(home)
  const start: AgentWorld['start'] = (args, env) => home.start(join(home.folder, '.local/bin', `svc-${spec.adapter}`), args, env)
  const read = readerOf(here, scenario)
  return {
    program: executable,
    installAgain: () => install(here, home, spec, scenario),
    start,
    run: (args, env) => start(args, env).ended,
    async session(args, model, env) {
      const before = here.upstream.received.length
      here.upstream.answer(model)
      const begun = performance.now()
      const ended = await start(args, env).ended
      tell(`${spec.adapter} ${pinned.version}: ${args.join(' ')}`, begun)
      expect(ended).toMatchObject({ code: 0, out: expect.stringContaining(ANSWER) })
      return here.upstream.received.slice(before)
    },
    async records(type) {
      const { records = null } = await read(`/svc/scenarios/${scenario}/records?request_type=${type}&limit=100`)
      const ids = Array.isArray(records) ? records.filter(isObject).map((row) => textOf(row['agent_record_id'])) : []
      return Promise.all(ids.map(async (id) => keptOf(id, await read(`/svc/scenarios/${scenario}/records/${id}`))))
    },
    ask: (method, path, body) => here.ask(method, path, { headers: headersFor(scenario), body }),
    async catalog() {
      const { releases = null } = await read('/svc/harness/releases')
      return Array.isArray(releases) ? releases.filter(isObject) : []
    },
    head: async () => textOf((await read('/svc/harness'))['release_id']),
  }
}

interface Installed {
  readonly scenario: string
  readonly executable: string
  readonly install: { readonly version: string }
}

/** The record of the only install in this home. */
function recordIn({ folder }: Home): Installed {
  const installs = join(folder, '.svc/installs')
  const [name = ''] = readdirSync(installs)
  return JSON.parse(readFileSync(join(installs, name, 'record.json'), 'utf8'))
}

const headersFor = (scenario: string) => ({ authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': scenario })

const readerOf =
  (here: World, scenario: string) =>
  async (path: string): Promise<JsonObject> => {
    const { status, json } = await here.get(path, headersFor(scenario))
    expect(status).toBe(200)
    return json
  }

function keptOf(id: string, { artifact_ref: release = null, score = null, references = null, payload }: JsonObject): Kept {
  const whole = objectOr(payload)
  return { id, release, score, references, payload: whole, tags: objectOr(objectOr(whole['metadata'])['tags']) }
}

const objectOr = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
