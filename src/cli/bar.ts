/** A progress bar with the remaining time, on terminals only. */
import { whole } from '../presentation/index.ts'
import { cut } from './screen/text.ts'
import type { Surroundings } from './surroundings.ts'

const BAR_CHARACTERS = 30
const REDRAW_MILLISECONDS = 100

export interface Bar {
  readonly at: (done: number, total: number) => void
  readonly end: () => void
}

export function startBar(surroundings: Pick<Surroundings, 'progress' | 'width'>, clock: () => number = () => performance.now()): Bar {
  const started = clock()
  let first: number | null = null
  let drawn = -Infinity
  return {
    at(done, total) {
      first ??= done
      if (clock() - drawn < REDRAW_MILLISECONDS && done < total) return
      drawn = clock()
      const pace = { done: done - first, left: total - done, milliseconds: drawn - started }
      surroundings.progress(cut(`${drawing(done, total)}  ${whole(done)} of ${whole(total)}${timeLeft(pace)}`, surroundings.width - 1))
    },
    end: () => surroundings.progress(''),
  }
}

function drawing(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.round(share * BAR_CHARACTERS)
  return `[${'#'.repeat(filled)}${' '.repeat(BAR_CHARACTERS - filled)}] ${String(Math.floor(share * 100)).padStart(3)}%`
}

/** Work done by an earlier run does not count towards the speed. */
function timeLeft({ done, left, milliseconds }: { readonly done: number; readonly left: number; readonly milliseconds: number }): string {
  if (done <= 0 || left <= 0) return ''
  const seconds = Math.ceil((left * milliseconds) / done / 1000)
  return seconds < 90 ? `  ${seconds} s left` : `  ${Math.ceil(seconds / 60)} min left`
}
