/** Scores of exchanges: a report's score is that of every exchange it quotes, as far as the report was seen. */
import type { RecordRow } from '@svc-ai/client'
import { PAGE_ROWS, type AskRecords } from './record-book.ts'

/** Bounds what a page that stays open for weeks remembers. */
const SCORES_MAX = 50_000

export class Scores {
  readonly #byReceipt = new Map<string, { readonly score: number; readonly sequence: number }>()
  /** The hundreds of sequences whose reports were asked for. */
  readonly #asked = new Set<number>()

  /** A record's own score, which reports and imports have, comes first. */
  of({ score, agent_record_id: id }: RecordRow): number | null {
    return score ?? this.#byReceipt.get(id)?.score ?? null
  }

  /** Where several reports quote one exchange, the newest counts. */
  note(rows: readonly RecordRow[]): void {
    for (const { request_type: type, score, sequence, references } of rows) {
      if (type !== 'report' || score === null) continue
      for (const receipt of references) {
        if ((this.#byReceipt.get(receipt)?.sequence ?? 0) <= sequence) this.#byReceipt.set(receipt, { score, sequence })
      }
    }
    for (const receipt of this.#byReceipt.keys()) {
      if (this.#byReceipt.size <= SCORES_MAX) return
      this.#byReceipt.delete(receipt)
    }
  }

  /** Asks once for the reports that follow on these rows, newest first, where an exchange among them has no score. */
  async want(rows: readonly RecordRow[], ask: AskRecords): Promise<void> {
    const oldest = rows.findLast((row) => row.request_type === 'inference' && this.of(row) === null)
    if (oldest === undefined) return
    const hundred = Math.floor(oldest.sequence / PAGE_ROWS)
    if (this.#asked.has(hundred)) return
    this.#asked.add(hundred)
    try {
      this.note((await ask({ request_type: 'report', after_sequence: oldest.sequence, limit: PAGE_ROWS })).records)
    } catch (error) {
      this.#asked.delete(hundred)
      throw error
    }
  }
}
