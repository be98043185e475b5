/** How far an import is: a bar for people who watch, a line now and then for a log. */
export interface ProgressBar {
  at(bytes: number, records: number): void
  note(text: string): void
  /** The last word. */
  end(): void
}

export interface ProgressScreen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const BAR_CHARACTERS = 30
const REDRAW_MILLIS = 100
const LINE_MILLIS = 5000
const ERASE_LINE = '\r\u001b[K'

export function showProgress(screen: ProgressScreen, bytesTotal: number, clock: () => number = Date.now): ProgressBar {
  const words = wordsFor(bytesTotal, clock)
  return screen.isTTY === true ? drawBar(screen, bytesTotal, words, clock) : writeLines(screen, words, clock)
}

type Words = (bytes: number, records: number) => string

/** Share, records and the time left at the speed of this run alone: what an earlier one did says nothing about now. */
function wordsFor(total: number, clock: () => number): Words {
  const started = clock()
  let firstBytes: number | null = null
  return (bytes, records) => {
    firstBytes ??= bytes
    const left = secondsLeft({ done: bytes - firstBytes, left: total - bytes, millis: clock() - started })
    return `${String(Math.floor(shareOf(bytes, total) * 100)).padStart(3)}%  ${records.toLocaleString('en')} records${left}`
  }
}

const shareOf = (bytes: number, total: number): number => (total === 0 ? 1 : bytes / total)

function secondsLeft(pace: { readonly done: number; readonly left: number; readonly millis: number }): string {
  if (pace.done <= 0 || pace.left <= 0) return ''
  const seconds = Math.ceil((pace.left * pace.millis) / pace.done / 1000)
  return seconds < 90 ? `  ${seconds} s left` : `  ${Math.ceil(seconds / 60)} min left`
}

/** Not redrawn more often than the eye follows; gone at the end. */
function drawBar(screen: ProgressScreen, total: number, words: Words, clock: () => number): ProgressBar {
  let drawn = -Infinity
  return {
    at(bytes, records) {
      const text = words(bytes, records)
      if (clock() - drawn < REDRAW_MILLIS && bytes < total) return
      drawn = clock()
      const filled = Math.round(shareOf(bytes, total) * BAR_CHARACTERS)
      const line = `[${'#'.repeat(filled)}${' '.repeat(BAR_CHARACTERS - filled)}] ${text}`
      screen.write(ERASE_LINE + line.slice(0, (screen.columns ?? 80) - 1))
    },
    note: (text) => void screen.write(`${ERASE_LINE}${text}\n`),
    end: () => void screen.write(ERASE_LINE),
  }
}

/** None in the first seconds, so that a short import says one thing: where it ended. */
function writeLines(screen: ProgressScreen, words: Words, clock: () => number): ProgressBar {
  let written = clock()
  let waiting: string | null = null
  const write = (text: string): void => {
    written = clock()
    waiting = null
    screen.write(`${text}\n`)
  }
  return {
    at(bytes, records) {
      waiting = words(bytes, records).trimStart()
      if (clock() - written >= LINE_MILLIS) write(waiting)
    },
    note: (text) => void screen.write(`${text}\n`),
    end: () => (waiting === null ? undefined : write(waiting)),
  }
}
