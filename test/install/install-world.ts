/** A service in which every instruction becomes a release, and whose install script is fetched as by a person. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Svc, type Requires } from '@svc-ai/client'
import { expect } from 'vitest'
import { isObject, type Entry, type Json, type JsonObject, type TokenRow, type TrainingMode } from '../../src/contract/index.ts'
import { until } from '../support/wait.ts'
import { ownWorld, sharedWorld, type Answer, type World, type WorldOptions } from '../support/world.ts'
import { bearer } from '../spec/support/helpers.ts'
import { makeMachine, type Ended, type Machine, type Running } from './machine.ts'

export const TOKEN = 'open-sesame'
export const RELEASE_FILE = '.svc-harness-release'
/** Every release is held for review. */
export const HOLDING = join(import.meta.dirname, '../fixtures/held-orders.ts')

const OBEDIENT = join(import.meta.dirname, '../../examples/recipe/standing-orders.ts')
const LINE = `shell=$1 url=$2 name=$3; shift 3
curl -sS \${SVC_TOKEN:+-H "authorization: Bearer $SVC_TOKEN"} -H "x-svc-scenario: $name" "$url" | $shell -s -- "$@"`

export interface Scenario {
  readonly name: string
  readonly svc: Svc
  /** Requests a rule and returns its release, promoted if it was held. */
  order(text: string, requires?: readonly Requires[]): Promise<string>
  script(query?: string): Promise<Answer>
  /** `curl … | sh -s -- DEST PREFIX`. */
  install(machine: Machine, shell: string, options?: InstallOptions): Promise<Ended>
  startInstall(machine: Machine, shell: string, options?: InstallOptions): Running
}

interface InstallOptions {
  readonly release?: string
  readonly token?: string | undefined
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly folder?: string
}

interface InstallWorldOptions {
  readonly seed?: readonly Entry[]
  readonly adapter?: string
  readonly recipe?: string
  readonly mode?: TrainingMode
  /** It asks nobody for a token. */
  readonly isOpen?: boolean
}

/** For all tests of a file. */
export const sharedInstallWorld = (options: InstallWorldOptions = {}) => installWorld(sharedWorld(worldOptions(options)), options)

/** For one test. */
export const ownInstallWorld = async (options: InstallWorldOptions = {}) => installWorld(await ownWorld(worldOptions(options)), options)

function worldOptions({
  seed = [],
  adapter = 'pi',
  recipe = OBEDIENT,
  mode = 'manual',
  isOpen = false,
}: InstallWorldOptions): WorldOptions {
  const settings = {
    recipe,
    'evolution.adapter': adapter,
    'evolution.seed': JSON.stringify(seed),
    'inference.upstream_model': 'm',
    'data.training_mode': mode,
  }
  return { backend: 'sqlite', settings, environment: isOpen ? {} : { SVC_TOKEN: TOKEN } }
}

function installWorld(here: World, { adapter = 'pi' }: InstallWorldOptions) {
  const scenario = (name: string): Promise<Scenario> => scenarioOf(here, adapter, name)
  const fresh = async (name: string, node?: string) => ({ machine: makeMachine(node), scenario: await scenario(name) })
  return {
    here,
    scenario,
    fresh,
    async installed(name: string, shell = 'dash') {
      const made = await fresh(name)
      await made.scenario.install(made.machine, shell)
      return made
    },
    /** Without a scenario, into a folder of the machine. */
    installHere: (machine: Machine, shell: string, options?: InstallOptions) =>
      installer(here, adapter, '')(machine, shell, { args: [], ...options }).ended,
  }
}

async function scenarioOf(here: World, adapter: string, name: string): Promise<Scenario> {
  const made = await here.post('/svc/scenarios', { name }, bearer(TOKEN))
  expect(made.status, made.text).toBe(201)
  const svc = connect({ url: here.address, scenario: name, token: TOKEN })
  const path = `/svc/harness/install?adapter=${adapter}`
  const startInstall = installer(here, adapter, name)
  return {
    name,
    svc,
    order: (text, requires = []) => ordered(here, svc, text, requires),
    script: (query = '') => here.get(`${path}${query}`, { ...bearer(TOKEN), 'x-svc-scenario': Buffer.from(name).toString('latin1') }),
    startInstall,
    install: (machine, shell, options) => startInstall(machine, shell, options).ended,
  }
}

function installer(here: World, adapter: string, name: string): Scenario['startInstall'] {
  return (machine, shell, options = {}) => {
    const { release, folder, args = [machine.destination, machine.prefix] } = options
    const address = `${here.address}/svc/harness/install?adapter=${adapter}${release === undefined ? '' : `&release_id=${release}`}`
    const token = 'token' in options ? options.token : TOKEN
    const env = { ...options.env, ...(token !== undefined && { SVC_TOKEN: token }) }
    return machine.start(['sh', '-c', LINE, 'sh', shell, address, name, ...args], { env, ...(folder !== undefined && { folder }) })
  }
}

async function ordered(here: World, svc: Svc, instruction: string, requires: readonly Requires[]): Promise<string> {
  const { agent_record_id } = await svc.train({ text: instruction, session: 's', release_id: 'r', requires })
  await until(async () => (await svc.progress(agent_record_id)).settled)
  const row = (await svc.catalog()).find(({ training_request }) => Object(training_request).id === agent_record_id)
  expect(row?.result, JSON.stringify(here.log)).toMatch(/^(?:published|pending)$/)
  const release = row?.release_id ?? ''
  return typeof row?.metrics['held_because'] === 'string' ? (await svc.promote(release)).release_id : release
}

/** The installed files and their record are exactly that release's. */
export async function expectWhole({ svc, name }: Scenario, machine: Machine, release?: string): Promise<void> {
  const { files, release_id, content_id, requires } = await svc.manifest(release)
  const record = jsonAt(join(machine.installFolder(), 'record.json'))
  const bound = isObject(record['binding']) ? Object.keys(record['binding']) : []
  for (const [path, content] of Object.entries(files))
    if (!bound.includes(path)) expect(readFileSync(join(machine.destination, path), 'utf8')).toBe(content)
  const paths = [...new Set([...Object.keys(files), ...bound])].toSorted()
  expect(jsonAt(join(machine.destination, RELEASE_FILE))).toMatchObject({ release_id, content_id, files: paths, requires })
  expect(record).toMatchObject({ release_id, content_id, scenario: name, destination: machine.destination })
}

/** Those that were made for a scenario. */
export const tokensOf = async ({ svc, name }: Scenario): Promise<readonly TokenRow[]> =>
  (await svc.tokens()).filter(({ scenarios }) => scenarios?.includes(name))

export function jsonAt(path: string): JsonObject {
  const value: Json = JSON.parse(readFileSync(path, 'utf8'))
  if (!isObject(value)) throw new Error(`${path} does not hold an object`)
  return value
}
