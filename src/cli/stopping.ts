/** Work that a person may stop: the first signal ends it in order, the second at once. */
import type { StopSignal, Surroundings } from './surroundings.ts'

const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

export interface Stopping {
  readonly signal: AbortSignal
  /** What the command ends with, as a shell would say it; null where nothing was stopped. */
  exitCode(): number | null
}

export function stoppable(surroundings: Surroundings, reason?: Error): Stopping {
  const stopping = new AbortController()
  let code: number | null = null
  surroundings.onStop((signal) => {
    if (code !== null) return surroundings.exitNow(EXIT_CODES[signal])
    code = EXIT_CODES[signal]
    stopping.abort(reason)
  })
  return { signal: stopping.signal, exitCode: () => code }
}
