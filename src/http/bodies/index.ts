/** Bodies: read within a budget, checked here when they are short and beside this thread when they are long. */
import { INLINE_BODY_BYTES_MAX, INLINE_LINE_BYTES_MAX, type JsonObject } from '../../contract/index.ts'
import { outlinedBody, type RequestBody, type Tags } from '../../inference/index.ts'
import type { BytePieces } from '../../kit/index.ts'
import type { RecordDraft } from '../../records/index.ts'
import { BodyBudget, type HeldBytes } from './budget.ts'
import { doJob, outlineOf } from './jobs.ts'
import { parseChecked, parseStrictObject } from './strict-json.ts'
import { BodyThreads } from './threads.ts'

export type { BodyHold, HeldBytes } from './budget.ts'
export { readBody } from './read.ts'

export class Bodies {
  readonly budget: BodyBudget
  readonly #threads = new BodyThreads()

  constructor(held?: HeldBytes) {
    this.budget = new BodyBudget(undefined, held)
  }

  /** The provider's to judge: it must be a JSON object, and goes on as it came. */
  async line(pieces: BytePieces, tags: Tags): Promise<RequestBody> {
    if (pieces.length <= INLINE_LINE_BYTES_MAX) return outlinedBody(pieces, outlineOf(pieces, tags))
    const { findings, pieces: same } = await this.#threads.run({ kind: 'outline', tags }, pieces)
    return outlinedBody(same, findings)
  }

  async object(pieces: BytePieces): Promise<JsonObject> {
    if (isShort(pieces)) return parseStrictObject(pieces.joined())
    return parseChecked((await this.#threads.run({ kind: 'strict' }, pieces)).pieces.joined())
  }

  async drafts(kind: 'report' | 'import' | 'batch', pieces: BytePieces, tags: Tags): Promise<readonly RecordDraft[]> {
    if (!isShort(pieces)) return (await this.#threads.run({ kind, tags }, pieces)).findings
    const drafts = doJob({ kind, tags }, pieces)
    if (!Array.isArray(drafts)) throw new Error('a body of records gave none')
    return drafts
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}

const isShort = (pieces: BytePieces): boolean => pieces.length <= INLINE_BODY_BYTES_MAX
