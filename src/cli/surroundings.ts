/** What a command needs from outside itself, so that tests can stand in for the terminal, the signals and the service. */
import type { Store } from '../contract/index.ts'
import type { CommandLineReading, Environment, LoadedConfig } from '../config/index.ts'

export interface RunningService {
  /** The URL it listens on. */
  readonly address: string
  close(): Promise<void>
}

/** What the composed service offers to commands. */
export interface House {
  startService(loaded: LoadedConfig): Promise<RunningService>
  openStore(loaded: LoadedConfig): Promise<Store>
}

export type StopSignal = 'SIGINT' | 'SIGTERM'

export interface Surroundings {
  readonly environment: Environment
  /** Whether a person is looking: tables, colours and progress are for people. */
  readonly isTerminal: boolean
  out(line: string): void
  err(line: string): void
  /** Replaces the progress line; an empty text clears it. */
  progress(text: string): void
  /** Loaded only by commands that need it, so that help and schema stay quick. */
  house(): Promise<House>
  onStop(listener: (signal: StopSignal) => void): void
  exitNow(code: number): void
}

/** What every command that reads the configuration is given. */
export interface ConfigOptions {
  readonly config?: string
  readonly json?: boolean
  readonly commandLine: CommandLineReading
}

export const EXIT = { fine: 0, failed: 1, misconfigured: 2 } as const
