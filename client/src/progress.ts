/** A bar for people who watch; silence for everyone else. */
export interface Progress {
  at(bytes: number, records: number): void
  note(text: string): void
  end(): void
}

export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const BAR_CHARACTERS = 30
const REDRAW_MILLIS = 100
const ERASE_LINE = '\r\u001b[K'

export function showProgress(screen: Screen, bytesTotal: number, clock: () => number = Date.now): Progress {
  if (screen.isTTY !== true) return { at: () => undefined, note: () => undefined, end: () => undefined }
  const started = clock()
  let firstBytes: number | null = null
  let drawn = -Infinity
  return {
    at(bytes, records) {
      firstBytes ??= bytes
      const now = clock()
      if (now - drawn < REDRAW_MILLIS && bytes < bytesTotal) return
      drawn = now
      const left = secondsLeft({ done: bytes - firstBytes, left: bytesTotal - bytes, millis: now - started })
      const line = `${bar(bytes, bytesTotal)}  ${records.toLocaleString('en')} records${left}`
      screen.write(ERASE_LINE + line.slice(0, (screen.columns ?? 80) - 1))
    },
    note: (text) => void screen.write(`${ERASE_LINE}${text}\n`),
    end: () => void screen.write(ERASE_LINE),
  }
}

function bar(bytes: number, total: number): string {
  const share = total === 0 ? 1 : bytes / total
  const filled = Math.round(share * BAR_CHARACTERS)
  return `[${'#'.repeat(filled)}${' '.repeat(BAR_CHARACTERS - filled)}] ${String(Math.floor(share * 100)).padStart(3)}%`
}

/** From the speed of this run alone: what an earlier one did says nothing about now. */
function secondsLeft(pace: { readonly done: number; readonly left: number; readonly millis: number }): string {
  if (pace.done <= 0 || pace.left <= 0) return ''
  const seconds = Math.ceil((pace.left * pace.millis) / pace.done / 1000)
  return seconds < 90 ? `  ${seconds} s left` : `  ${Math.ceil(seconds / 60)} min left`
}
