/** One JSON line per request and per event worth an operator's eye. Lines are gathered and written together; none is lost on a clean exit. */
import { writeSync } from 'node:fs'
import type { JsonObject } from '../contract/index.ts'

export interface Log {
  write(level: 'info' | 'warn' | 'error', event: string, fields: JsonObject): void
  flush(): void
}

const FLUSH_AFTER_MS = 20
const FLUSH_AFTER_LINES = 256

/** Writes to a file descriptor; standard error by default, so that standard output stays the command's own. */
export function makeLog(clock: () => number, descriptor = 2): Log {
  let lines: string[] = []
  let timer: NodeJS.Timeout | null = null

  function flush(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (lines.length === 0) return
    const text = lines.join('')
    lines = []
    try {
      writeSync(descriptor, text)
    } catch {
      // A log that nobody reads any more (a closed pipe, a full disk) must not stop the service.
    }
  }

  return {
    write(level, event, fields) {
      lines.push(`${JSON.stringify({ time: new Date(clock() * 1000).toISOString(), level, event, ...fields })}\n`)
      if (lines.length >= FLUSH_AFTER_LINES) flush()
      else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref()
    },
    flush,
  }
}
