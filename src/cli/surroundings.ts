/** What a command needs from outside, so that tests can replace the terminal, the signals and the service. */
import type { Command } from 'commander'
import type { CommandLineReading, Environment, LoadedConfig } from '../config/index.ts'
import type * as main from '../main.ts'
import type { PartFound } from './doctor-parts.ts'

export type ServiceModule = Pick<
  typeof main,
  | 'readKey'
  | 'rotateKey'
  | 'startService'
  | 'openStore'
  | 'openArtifacts'
  | 'openScenarioFiles'
  | 'checkTotals'
  | 'checkFolders'
  | 'checkKey'
  | 'forgetRecords'
  | 'importFolders'
  | 'sandboxProblem'
  | 'readTls'
>

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

export interface Surroundings {
  readonly environment: Environment
  /** Whether a person is watching: tables, colours and progress are for people. */
  readonly isTerminal: boolean
  /** The terminal's width in characters; Infinity without a terminal. */
  readonly width: number
  /** The lines that the terminal has now; Infinity without a terminal, or where it does not say. */
  readonly height: () => number
  readonly colours: boolean
  readonly out: (line: string) => void
  /** A long text: on a terminal that it does not fit, in the person's pager. */
  readonly page: (text: string) => Promise<void>
  readonly err: (line: string) => void
  /** Replaces the progress line; an empty text clears it. */
  readonly progress: (text: string) => void
  /** A line typed by a person; null without a terminal, or when the person declines. */
  readonly ask: (question: string) => Promise<string | null>
  /** Opens an address in a browser; false where there is none. */
  readonly browse: (url: string) => Promise<boolean>
  /** Loaded on demand, so that help and schema stay fast. */
  readonly service: () => Promise<ServiceModule>
  /** Checks the configured plug-ins in another thread: their code may print, exit or hang. */
  readonly parts: (loaded: LoadedConfig) => Promise<readonly PartFound[]>
  readonly onStop: (listener: (signal: StopSignal) => void) => void
  /** Where no terminal is that could hang up, that signal asks for the configuration to be read again. */
  readonly onReload: (listener: () => void) => void
  readonly exitNow: (code: number) => void
}

export interface ConfigOptions {
  readonly config?: string
  readonly json?: boolean
  readonly commandLine: CommandLineReading
}

export type Action<T> = (options: T, surroundings: Surroundings) => number | Promise<number>

/** An action whose code is loaded when its command is given: `svc serve` waits for no other command. */
export const later =
  <T>(load: () => Promise<Action<T>>): Action<T> =>
  async (options, surroundings) =>
    (await load())(options, surroundings)

/** Binds a command to its action; arguments come among the options, by name. */
export type BindCommand = <T>(command: Command, action: Action<T>) => Command

export const EXIT = { fine: 0, failed: 1, misconfigured: 2 } as const

/** Follows the usual variables, else whether there is a terminal. */
export function wantsColours(environment: Environment, isTerminal: boolean): boolean {
  const forced = environment['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if ((environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb') return false
  return isTerminal
}
