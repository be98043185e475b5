/** The session log `native-jsonl`: one line `{type, seq, time, data}` for everything that happens, without the model's key. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { mkdirpSync } from '@svc-ai/client/folders'

export interface SessionLog {
  /** The file's name without its end. */
  readonly name: string
  write(type: string, data: Readonly<Record<string, unknown>>): void
  /** A log of its own for an agent that is asked; it comes after this one in the order of names. */
  forAgent(agent: string): SessionLog
}

export interface LogOptions {
  readonly folder: string
  readonly name: string
  readonly redact: Redact
  /** Gets everything that is written, in this log and those of its agents. */
  readonly onEvent?: (type: string, data: Readonly<Record<string, unknown>>) => void
}

/** Each line is on its way to the disk before the next thing happens: a kill leaves at most half of the last one. */
export function openLog(options: LogOptions): SessionLog {
  const { folder, name, redact, onEvent } = options
  mkdirpSync(folder)
  const file = join(folder, `${name}.jsonl`)
  let [seq, agents] = [0, 0]
  return {
    name,
    write(type, data) {
      appendFileSync(file, `${redact(JSON.stringify({ type, seq, time: Date.now() / 1000, data }))}\n`, { mode: 0o600 })
      seq += 1
      onEvent?.(type, data)
    },
    forAgent: (agent) => openLog({ ...options, name: `${name}_${String((agents += 1)).padStart(3, '0')}-${agent}` }),
  }
}

/** Names sort by the time they were made. */
export const sessionName = (id: string): string => `${new Date().toISOString().replaceAll(/[-:.]/g, '')}-${id}`

export type Redact = (text: string) => string

const KEY_CHARACTERS_MIN = 6

/** Shorter keys are words that stand anywhere, and no secret. */
export function redactor(key: string | null): Redact {
  if (key === null || key.length < KEY_CHARACTERS_MIN) return (text) => text
  const spellings = new Set([key, JSON.stringify(key).slice(1, -1)])
  return (text) => [...spellings].reduce((cut, spelling) => cut.replaceAll(spelling, () => '[redacted credential]'), text)
}
