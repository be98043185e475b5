/** What was spent today, in a file: a service that is started again goes on counting. */
import { readFile } from 'node:fs/promises'
import { isMissing, writeAtomicFile } from '../kit/index.ts'
import type { Cells } from './cells.ts'
import { COST, type LimitTime } from './windows.ts'

const FORMAT = 1
/** A process that is killed forgets what was spent since. */
const WRITE_EVERY_MS = 5000

/** A key's digits, what it spent, and when its day ends. */
type Row = readonly [key: string, used: number, endsAt: number]

export interface SpentNeeds {
  readonly path: string
  readonly cells: Cells
  readonly time: LimitTime
  readonly warn: (message: string, error: unknown) => void
}

export class SpentFile {
  readonly #needs: SpentNeeds
  readonly #timer: NodeJS.Timeout
  #written: string
  #writing: Promise<void> = Promise.resolve()

  private constructor(needs: SpentNeeds, isNew: boolean) {
    this.#needs = needs
    // Where nothing is ever spent, no file is made.
    this.#written = isNew ? textOf([]) : ''
    this.#timer = setInterval(() => this.#write(), WRITE_EVERY_MS).unref()
  }

  /** A file that cannot be read is told of, and counting begins anew. */
  static async open(needs: SpentNeeds): Promise<SpentFile> {
    try {
      const rows = rowsIn(await readFile(needs.path, 'utf8'))
      const [now, wall] = [needs.time.passed(), needs.time.wall()]
      for (const [key, used, endsAt] of rows)
        needs.cells.restore(key, ({ numbers, at }) => {
          numbers[at + COST.used] = used
          // A clock that was set since then makes no day longer.
          numbers[at + COST.end] = now + Math.min(endsAt - wall, COST.seconds)
        })
    } catch (error) {
      if (isMissing(error)) return new SpentFile(needs, true)
      needs.warn('what was spent today cannot be read; limits of money count from nothing', error)
    }
    return new SpentFile(needs, false)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#write()
    await this.#writing
  }

  #write(): void {
    const { cells, time, path, warn } = this.#needs
    const [now, wall] = [time.passed(), time.wall()]
    const rows: Row[] = []
    cells.each((key, { numbers, at }) => {
      const [used = 0, end = 0] = [numbers[at + COST.used], numbers[at + COST.end]]
      // A second is exact enough, and a file that stays the same is not written.
      if (used > 0) rows.push([key, used, Math.round(wall + end - now)])
    })
    const text = textOf(rows)
    if (text === this.#written) return
    this.#written = text
    this.#writing = this.#writing
      .then(() => writeAtomicFile(path, text, 0o600))
      .catch((error: unknown) => {
        this.#written = ''
        warn('what was spent today cannot be written; after a restart limits of money count from what was written before', error)
      })
  }
}

const textOf = (rows: readonly Row[]): string => JSON.stringify({ format: FORMAT, spent: rows })

function rowsIn(text: string): readonly Row[] {
  const { format, spent }: { format?: unknown; spent?: unknown } = JSON.parse(text)
  if (format !== FORMAT || !Array.isArray(spent)) throw new Error('the file is of another format')
  return spent.filter(isRow)
}

const isRow = (row: unknown): row is Row =>
  Array.isArray(row) && /^[0-9a-f]{16}$/.test(String(row[0])) && Number.isFinite(row[1]) && row[1] > 0 && Number.isFinite(row[2])
