/** The one client of the ordeal, and what every run begins with: the same questions and reports, of which the last is not sent yet. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/contract/index.ts'
import { ask, listIn, objectIn, textIn, type Heard } from '../http.ts'
import { tinyModel } from '../../weights/support/tiny-model.ts'
import { withLlama } from '../../weights/support/llama.ts'
import { BASE, GROUP_SIZE, Trio } from './trio.ts'

export const SCENARIO = 'learner'

const PROMPT = 'Pick a colour.'
const LOOK_AGAIN_MS = 25
/** What has not happened by then is stuck: a step takes half a second, and the longest rest after a crash some seconds. */
const PATIENCE_LOOKS = 4000

export interface Said {
  readonly receipt: string
  readonly text: string
}

export type At = Pick<Trio, 'address'>

export async function say(at: At, more: JsonObject): Promise<Said | null> {
  const body = { model: BASE, messages: [{ role: 'user', content: PROMPT }], max_tokens: 12, ...more }
  const heard = await ask(at.address, { method: 'POST', path: '/v1/chat/completions', scenario: SCENARIO, body })
  if (heard.status !== 200 || !heard.isWhole) return null
  const [choice] = listIn(objectIn(heard), 'choices')
  const message: JsonObject = Object(choice?.['message'])
  return { receipt: String(heard.headers['x-svc-agent-record-id'] ?? ''), text: textIn(message, 'content') }
}

/** One group of exchanges, in the order of their seeds. */
async function converse(at: At, round: number): Promise<readonly string[]> {
  const receipts: string[] = []
  for (let index = 0; index < GROUP_SIZE; index += 1) {
    const said = await say(at, { temperature: 1, seed: round * 1000 + index })
    if (said === null) throw new Error('an exchange failed before any process was killed')
    receipts.push(said.receipt)
  }
  return receipts
}

/** Half of them were good, whatever they said: so there is always something to learn. */
export function report(at: At, round: number, receipt: string, index: number): Promise<Heard> {
  const body = {
    agent_record_id: reportId(round, index),
    score: index % 2,
    references: [receipt],
    metadata: { comparison_set: `round-${round}` },
  }
  return ask(at.address, { method: 'POST', path: '/svc/report', scenario: SCENARIO, body })
}

const reportId = (round: number, index: number): string => `report-${round}-${index}`

/** Resolves once that many steps have published. */
export function landed(at: At, published: number): Promise<void> {
  return until(`step ${published} is published`, async () => {
    const heard = await ask(at.address, { method: 'GET', path: `/svc/scenarios/${SCENARIO}/commits` })
    return listIn(objectIn(heard), 'commits').filter((commit) => textIn(commit, 'artifact_ref') !== '').length >= published
  })
}

export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < PATIENCE_LOOKS; look += 1) {
    if (await isSo()) return
    await sleep(LOOK_AGAIN_MS)
  }
  throw new Error(`waited in vain until ${what}`)
}

export interface Recording {
  /** Data and trainer state, to be copied. */
  readonly directory: string
  /** The folder of the base model. */
  readonly model: string
  /** What the last report is about. */
  readonly lastReceipt: string
  /** Everything that the next step consumes. */
  readonly batch: readonly string[]
}

export const PARENT_STEP = 1
const ROUNDS = [1, 2] as const
export const LAST_ROUND = 2
export const LAST_INDEX = GROUP_SIZE - 1

export async function record(within: string): Promise<Recording> {
  withLlama()
  const [directory, model] = [join(within, 'recording'), await tinyModel()]
  const trio = await Trio.open(directory, model, null)
  try {
    let receipts: readonly string[] = []
    for (const round of ROUNDS) {
      receipts = await converse(trio, round)
      const isLast = round === LAST_ROUND
      for (const [index, receipt] of receipts.entries()) if (!isLast || index < LAST_INDEX) await sent(trio, round, receipt, index)
      if (!isLast) await landed(trio, PARENT_STEP)
    }
    const reports = receipts.map((_, index) => reportId(LAST_ROUND, index))
    return { directory, model, lastReceipt: receipts[LAST_INDEX] ?? '', batch: [...receipts, ...reports] }
  } finally {
    await trio.stop()
  }
}

async function sent(trio: Trio, round: number, receipt: string, index: number): Promise<void> {
  const heard = await report(trio, round, receipt, index)
  if (heard.status !== 200) throw new Error(`a report was answered with ${heard.status}: ${heard.text}`)
}
