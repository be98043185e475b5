/** What a run left behind, read from its disks once everything has stopped. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import git from '../../../plugins/contents/git/index.ts'
import sqlite from '../../../plugins/stores/sqlite/index.ts'
import type { Commit, JsonObject } from '../../../src/contract/index.ts'
import { PROVENANCE, readProvenance } from '../../../src/weights/formats/provenance.ts'
import { ADAPTER_WEIGHTS } from '../../../src/weights/formats/peft.ts'
import { examine } from '../examine.ts'
import { textIn } from '../http.ts'
import { PARENT_STEP, SCENARIO } from './client.ts'
import type { Trio } from './trio.ts'

export interface Left {
  /** Those after the parent's, oldest first. */
  readonly rows: readonly Row[]
  /** Of the newest release that was trained. */
  readonly adapter: Adapter | null
  /** How often the trainer kept a state of that job: once for each time that it trained it. */
  readonly statesSaved: number
  /** Which load answered the client's last question. */
  readonly answeredBy: string
  /** Records that a step could still take. */
  readonly pending: readonly string[]
  readonly damage: readonly string[]
}
export interface Row {
  readonly step: number
  readonly operation: string
  readonly outcome: string
  readonly consumed: readonly string[]
  readonly error: string
}
export interface Adapter {
  readonly job: string
  readonly sha256: string
  readonly optimizerSteps: number
  /** By the optimizer's own count, in the state that the next job would go on from. */
  readonly stateSteps: number
}

const ROWS_MAX = 100

export async function readLeft({ place, trainerState }: Pick<Trio, 'place' | 'trainerState'>, lastReceipt: string): Promise<Left> {
  const store = await sqlite.plugin.make({ directory: place.records })
  const scenario = store.scenario(SCENARIO)
  const commits = await scenario.commits({ after: PARENT_STEP, limit: ROWS_MAX })
  const pending = await scenario.pending({ component: '', types: ['report'], after: 0, limit: ROWS_MAX })
  const last = await scenario.get(lastReceipt)
  await store.close()
  const adapter = await adapterOf(place.repository, trainerState, commits)
  const { damage, fsck } = await examine(place, [])
  return {
    rows: commits.map(rowOf),
    adapter,
    statesSaved: adapter === null ? 0 : savedStates(trainerState, adapter.job),
    answeredBy: loadIn(last?.payload ?? null),
    pending: pending.map(({ agent_record_id }) => agent_record_id),
    damage: [...damage, ...fsck],
  }
}

const rowOf = ({ step, operation, outcome, consumed_ids, metrics }: Commit): Row => ({
  step,
  operation,
  outcome,
  consumed: consumed_ids,
  error: textIn(metrics, 'error'),
})

async function adapterOf(repository: string, trainerState: string, commits: readonly Commit[]): Promise<Adapter | null> {
  const release = commits.findLast((row) => row.release !== null)?.release
  if (!release) return null
  const contents = await git.plugin.make({ repository })
  const folder = await contents.unpack(release.content_id)
  await contents.close()
  const { job, optimizer_steps, trainer_state } = readProvenance(readFileSync(join(folder, PROVENANCE), 'utf8'))
  const sha256 = createHash('sha256')
    .update(readFileSync(join(folder, ADAPTER_WEIGHTS)))
    .digest('hex')
  return { job, sha256, optimizerSteps: optimizer_steps, stateSteps: stepsIn(trainerState, trainer_state) }
}

const state = z.object({ optimizer_steps: z.number() })

/** 0 when the state that a release names is not there. */
function stepsIn(trainerState: string, path: string): number {
  try {
    const facts = join(trainerState, 'checkpoints', path.replace('tinker://', ''), 'state.json')
    return state.parse(JSON.parse(readFileSync(facts, 'utf8'))).optimizer_steps
  } catch {
    return 0
  }
}

function savedStates(trainerState: string, job: string): number {
  const saved = readdirSync(join(trainerState, 'checkpoints'), { recursive: true, withFileTypes: true })
  return saved.filter(({ name, parentPath }) => name === job && parentPath.endsWith('/weights')).length
}

function loadIn(payload: Uint8Array | null): string {
  if (payload === null) return ''
  const exchange: JsonObject = JSON.parse(Buffer.from(payload).toString())
  const response: JsonObject = Object(exchange['response'])
  const training: JsonObject = Object(response['training'])
  return textIn(training, 'runtime_load_id')
}
