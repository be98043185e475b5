/** Surroundings for tests: captured output, a fake service and store, and signals on demand. */
import type { Damage, Store } from '../../contract/index.ts'
import type { ServiceModule, StopSignal, Surroundings } from '../surroundings.ts'

export interface FakeSurroundings extends Surroundings {
  readonly printed: string[]
  readonly complaints: string[]
  readonly exits: number[]
  /** Every text the progress line showed. */
  readonly shown: string[]
  readonly questions: string[]
  signal(name: StopSignal): void
}

/** A terminal of that many characters, at which somebody types these answers, and then no more. */
export interface FakeTerminal {
  readonly width?: number
  readonly colours?: boolean
  readonly answers?: readonly string[]
}

/** Without a terminal unless one is given. */
export function fakeSurroundings(
  service: Partial<ServiceModule> = {},
  environment: Readonly<Record<string, string>> = {},
  terminal?: FakeTerminal,
): FakeSurroundings {
  const listeners: ((signal: StopSignal) => void)[] = []
  const fake = {
    printed: [] as string[],
    complaints: [] as string[],
    exits: [] as number[],
    shown: [] as string[],
    questions: [] as string[],
  }
  const answers = [...(terminal?.answers ?? [])]
  return {
    ...fake,
    environment: { SVC_UPSTREAM_URL: 'http://127.0.0.1:9', ...environment },
    isTerminal: terminal !== undefined,
    width: terminal?.width ?? Infinity,
    colours: terminal?.colours ?? false,
    out: (line) => void fake.printed.push(line),
    err: (line) => void fake.complaints.push(line),
    progress: (text) => void fake.shown.push(text),
    ask: (question) => {
      fake.questions.push(question)
      return Promise.resolve(answers.shift() ?? null)
    },
    service: () =>
      Promise.resolve({
        startService: () => Promise.reject(new Error('no service in this test')),
        openStore: () => Promise.reject(new Error('no store in this test')),
        checkFolders: () => Promise.resolve(),
        importFolders: () => Promise.reject(new Error('no import in this test')),
        ...service,
      }),
    parts: () => Promise.resolve([]),
    onStop: (listener) => void listeners.push(listener),
    exitNow: (code) => void fake.exits.push(code),
    signal: (name) => {
      for (const listener of listeners) listener(name)
    },
  }
}

const unused = () => Promise.reject(new Error('not asked for in this test'))

/** A store that answers only what commands ask of it. */
export function fakeStore(damage: readonly Damage[], closed: () => void = () => undefined): Store {
  return {
    scenarios: unused,
    scenario: () => {
      throw new Error('not asked for in this test')
    },
    archive: unused,
    usage: () => Promise.resolve({ records: 3, body_bytes: 0, capacity_bytes: 1, lost_records: 0, lost_bytes: 0 }),
    onLoss: () => undefined,
    verify: (progress) => {
      progress(3, 3)
      return Promise.resolve(damage)
    },
    close: () => {
      closed()
      return Promise.resolve()
    },
  }
}
