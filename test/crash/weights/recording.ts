/** What every run begins with: a scenario that was trained once, and a group of exchanges whose last report is not sent yet. */
import { join } from 'node:path'
import { tinyModel } from '../../weights/support/tiny-model.ts'
import { withLlama } from '../../weights/support/llama.ts'
import { converse, landed, report, reportId } from './client.ts'
import { GROUP_SIZE, Trio } from './trio.ts'

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
