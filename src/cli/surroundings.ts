/** What a command needs from outside itself, so that tests can stand in for the terminal, the signals and the service. */
import type { Store } from '../contract/index.ts'
import type { CommandLineReading, Environment, LoadedConfig } from '../config/index.ts'
import type { importFolders, ServiceOptions } from '../main.ts'
import type { PartFound } from './doctor-parts.ts'

export interface RunningService {
  /** The URL it listens on. */
  readonly address: string
  close(): Promise<void>
}

/** What the composed service offers to commands. */
export interface House {
  startService(loaded: LoadedConfig, options?: Pick<ServiceOptions, 'log'>): Promise<RunningService>
  openStore(loaded: LoadedConfig): Promise<Store>
  checkFolders(loaded: LoadedConfig): Promise<void>
  importFolders: typeof importFolders
}

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

export interface Surroundings {
  readonly environment: Environment
  /** Whether a person is looking: tables, colours and progress are for people. */
  readonly isTerminal: boolean
  /** Characters in a line of the terminal; without one nothing needs to fit. */
  readonly width: number
  readonly colours: boolean
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** Replaces the progress line; an empty text clears it. */
  readonly progress: (text: string) => void
  /** A line that a person types; null when nobody is there to type one, or they would rather not. */
  readonly ask: (question: string) => Promise<string | null>
  /** Loaded only by commands that need it, so that help and schema stay quick. */
  readonly house: () => Promise<House>
  /** Loads what the configuration names, apart from this thread: whose code it is may print, end or never finish. */
  readonly parts: (loaded: LoadedConfig) => Promise<readonly PartFound[]>
  readonly onStop: (listener: (signal: StopSignal) => void) => void
  readonly exitNow: (code: number) => void
}

/** What every command that reads the configuration is given. */
export interface ConfigOptions {
  readonly config?: string
  readonly json?: boolean
  readonly commandLine: CommandLineReading
}

export const EXIT = { fine: 0, failed: 1, misconfigured: 2 } as const

/** Whether to paint: as the usual variables say, else whenever a terminal shows it. */
export function wantsColours(environment: Environment, isTerminal: boolean): boolean {
  const forced = environment['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if ((environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb') return false
  return isTerminal
}
