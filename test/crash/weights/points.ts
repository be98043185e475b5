/** The points of a weight job at which a process is killed: a process that passes one prints it, and waits there while it is held. */
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** In the order of a job. */
export const POINTS = [
  /** The batch is taken; no marker of its job is there. */
  'preparing',
  /** RUNNING, with a session at the trainer. */
  'session',
  /** RUNNING, with a model at the trainer. */
  'model',
  /** RUNNING, after the optimizer step: nothing is saved. */
  'trained',
  'checkpoint',
  'examined',
  /** The engine is in the middle of loading the candidate, which no row names. */
  'trying',
  /** The row is durable; no engine was called. */
  'row',
  /** The engine is in the middle of loading what the row published. */
  'loading',
] as const
export type Point = (typeof POINTS)[number]

/** The environment names the file that holds the point to wait at. */
export const HOLD_AT = 'HOLD_AT'
const LOOK_AGAIN_MS = 2

export async function reach(point: Point): Promise<void> {
  process.stdout.write(`${point}\n`)
  while (isHeldAt(point)) await sleep(LOOK_AGAIN_MS)
}

/** Looked up each time; it is taken away while this looks. */
function isHeldAt(point: Point): boolean {
  const order = process.env[HOLD_AT] ?? ''
  if (!existsSync(order)) return false
  try {
    return readFileSync(order, 'utf8') === point
  } catch {
    return false
  }
}
