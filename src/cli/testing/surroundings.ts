/** Surroundings for tests: captured output, a fake service and store, and signals on demand. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Damage, Store } from '../../contract/index.ts'
import { expect } from 'vitest'
import { runCli } from '../program.ts'
import type { ServiceModule, StopSignal, Surroundings } from '../surroundings.ts'

const noOutput = () => ({
  printed: [] as string[],
  complaints: [] as string[],
  exits: [] as number[],
  shown: [] as string[],
  questions: [] as string[],
  opened: [] as string[],
})

export interface FakeSurroundings extends Surroundings, ReturnType<typeof noOutput> {
  signal(name: StopSignal): void
  /** As the signal arrives where there is no terminal. */
  hangUp(): void
}

/** A terminal of that many characters and lines; a person types these answers, and then no more. */
export interface FakeTerminal {
  readonly width?: number
  readonly height?: number
  readonly colours?: boolean
  readonly answers?: readonly string[]
  readonly hasBrowser?: boolean
}

/** Without a terminal unless one is given. */
export function fakeSurroundings(
  service: Partial<ServiceModule> = {},
  environment: Readonly<Record<string, string>> = {},
  terminal?: FakeTerminal,
): FakeSurroundings {
  const reloads: (() => void)[] = []
  const listeners: ((signal: StopSignal) => void)[] = []
  const fake = noOutput()
  const answers = [...(terminal?.answers ?? [])]
  return {
    ...fake,
    environment: { SVC_UPSTREAM_URL: 'http://127.0.0.1:9', ...environment },
    isTerminal: terminal !== undefined,
    width: terminal?.width ?? Infinity,
    height: () => terminal?.height ?? Infinity,
    colours: terminal?.colours ?? false,
    out: (line) => void fake.printed.push(line),
    page: async (text) => void fake.printed.push(text),
    err: (line) => void fake.complaints.push(line),
    progress: (text) => void fake.shown.push(text),
    ask: (question) => {
      fake.questions.push(question)
      return Promise.resolve(answers.shift() ?? null)
    },
    browse: async (url) => {
      fake.opened.push(url)
      return terminal?.hasBrowser ?? false
    },
    service: () =>
      Promise.resolve({
        startService: () => Promise.reject(new Error('no service in this test')),
        openStore: () => Promise.reject(new Error('no store in this test')),
        openArtifacts: () => Promise.reject(new Error('no releases in this test')),
        openScenarioFiles: () => {
          throw new Error('no files in this test')
        },
        checkTotals: () => Promise.resolve([]),
        checkFolders: () => Promise.resolve(),
        checkKey: () => Promise.resolve(),
        forgetRecords: () => Promise.resolve(null),
        sandboxProblem: () => Promise.resolve(null),
        importFolders: () => Promise.reject(new Error('no import in this test')),
        readTls: () => Promise.resolve(null),
        readKey: () => Promise.reject(new Error('no key in this test')),
        rotateKey: () => Promise.reject(new Error('no key in this test')),
        ...service,
      }),
    parts: () => Promise.resolve([]),
    onStop: (listener) => void listeners.push(listener),
    onReload: (listener) => void reloads.push(listener),
    exitNow: (code) => void fake.exits.push(code),
    hangUp: () => {
      for (const reload of reloads) reload()
    },
    signal: (name) => {
      for (const listener of listeners) listener(name)
    },
  }
}

export const HOLDING = {
  recipe: join(import.meta.dirname, '../../../test/fixtures/held-orders.ts'),
  'evolution.adapter': 'pi',
  'data.training_mode': 'manual',
}

/** The environment of a user in a new home, where this script runs as the program of that name. */
export function homeWith(name: string, script: string) {
  const home = temporaryFolder()
  const tools = join(home, 'tools')
  mkdirSync(tools)
  writeFileSync(join(tools, name), script, { mode: 0o755 })
  return { HOME: home, PATH: `${tools}${delimiter}${process.env['PATH']}` }
}

export async function execute(args: readonly string[], surroundings = fakeSurroundings()) {
  const exit = await runCli(args, surroundings)
  return { exit, out: surroundings.printed.join('\n'), err: surroundings.complaints, asked: surroundings.questions.join('\n') }
}

export const typeCommand = (address: string, args: readonly string[], terminal?: FakeTerminal) =>
  execute(args, fakeSurroundings({}, { SVC_URL: address }, terminal))

const unused = () => Promise.reject(new Error('not part of this test'))

export function fakeStore(damage: readonly Damage[], closed: () => void = () => undefined): Store {
  return {
    scenarios: unused,
    scenario: () => expect.unreachable('no scenario in this test'),
    archive: unused,
    usage: () => Promise.resolve({ records: 3, body_bytes: 0, capacity_bytes: 1, lost_records: 0, lost_bytes: 0 }),
    onLoss: () => undefined,
    follow: () => () => undefined,
    lease: unused,
    deployment: { tokens: unused, changeToken: unused, addAudit: unused, audit: unused },
    verify: (progress) => {
      progress(3, 3)
      return Promise.resolve(damage)
    },
    close: async () => closed(),
  }
}
