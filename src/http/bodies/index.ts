/** Bodies: read within a budget, checked here when they are short and beside this thread when they are long. */
import { INLINE_BODY_BYTES_MAX, INLINE_LINE_BYTES_MAX, type JsonObject } from '../../contract/index.ts'
import { outlinedBody, type RequestBody, type Tags } from '../../inference/index.ts'
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
  async line(bytes: Buffer, tags: Tags): Promise<RequestBody> {
    if (bytes.length <= INLINE_LINE_BYTES_MAX) return outlinedBody(bytes, outlineOf(bytes, tags))
    const { findings, bytes: same } = await this.#threads.run({ kind: 'outline', tags }, bytes)
    return outlinedBody(same, findings)
  }

  async object(bytes: Buffer): Promise<JsonObject> {
    if (isShort(bytes)) return parseStrictObject(bytes)
    return parseChecked((await this.#threads.run({ kind: 'strict' }, bytes)).bytes)
  }

  async drafts(kind: 'report' | 'import' | 'batch', bytes: Buffer, tags: Tags): Promise<readonly RecordDraft[]> {
    if (!isShort(bytes)) return (await this.#threads.run({ kind, tags }, bytes)).findings
    const drafts = doJob({ kind, tags }, bytes)
    if (!Array.isArray(drafts)) throw new Error('a body of records gave none')
    return drafts
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}

const isShort = (bytes: Buffer): boolean => bytes.length <= INLINE_BODY_BYTES_MAX
