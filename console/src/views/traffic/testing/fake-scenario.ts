/** Records of a scenario that exists in a test alone, asked for the way the service is. */
import type { RecordRow } from '@svc-ai/client'
import type { AskRecords } from '../record-book.ts'
import type { FindRecords } from '../source-book.ts'

export type FakeScenario = ReturnType<typeof fakeScenario>

export function fakeScenario() {
  let life = 0
  let rows: RecordRow[] = []
  let questions = 0
  let held = 0
  const ask: AskRecords = ({
    request_type: type,
    limit = 50,
    order = 'oldest',
    after_sequence: after = 0,
    before_sequence: before = Infinity,
  }) => {
    questions += 1
    const part = order === 'newest' ? rows.slice(0, Math.min(before - 1, rows.length)).toReversed() : rows.slice(after)
    const found = type === undefined ? part : part.filter((row) => row.request_type === type)
    const records = found.slice(0, limit)
    return Promise.resolve({ records, next: found.length > limit ? (records.at(-1)?.sequence ?? null) : null })
  }
  const find: FindRecords = async ({ limit = 50, before_sequence: before = Infinity }) => {
    if (held > 0 && before !== Infinity) {
      held -= 1
      return { records: [], next: before, waiting: 0 }
    }
    return { ...(await ask({ order: 'newest', before_sequence: before, limit })), waiting: 0 }
  }
  return {
    ask,
    /** A search that everything fits. */
    find,
    /** So many pages of a search are empty, though more follow. */
    holdBack: (pages: number): void => {
      held = pages
    },
    /** How many questions were asked so far. */
    get questions(): number {
      return questions
    },
    add: (count: number, like: Partial<RecordRow> = {}): void => {
      for (let added = 0; added < count; added += 1) rows.push(rowOf(rows.length + 1, life, like))
    },
    /** Forgets everything, as a scenario that was deleted and made anew. */
    reset: (): void => {
      life += 1
      rows = []
    },
  }
}

export const rowOf = (sequence: number, life: number, like: Partial<RecordRow>): RecordRow => ({
  sequence,
  agent_record_id: `${life}-${sequence}`,
  request_type: 'inference',
  created_at: sequence,
  references: [],
  artifact_ref: null,
  score: null,
  ...like,
})
