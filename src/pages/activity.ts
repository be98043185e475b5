/** The card of what a step does while it holds a request, newest first. */
import { ACTIVITY_LINES_SHOWN_MAX } from '../contract/index.ts'
import { card } from './frame.ts'
import { markup, type Html } from './html.ts'
import { inline, lasting } from './prose.ts'
import type { ProgressShown, RequestView } from './view.ts'

/** Nothing before a step holds the request. */
export function activityCard({ progress, now }: RequestView): Html | null {
  const { started_at, activity } = progress
  if (started_at === null) return null
  const lines = activity.slice(-ACTIVITY_LINES_SHOWN_MAX).toReversed()
  if (lines.length === 0) return card('Activity', markup`<p>The step has not said anything yet.</p>`)
  return card(
    'Activity',
    markup`<ol class="activity" reversed>
      ${lines.map((line, index) => lineOf(line, started_at, index === 0 ? now : null))}
    </ol>`,
    lines.length === ACTIVITY_LINES_SHOWN_MAX &&
      markup`<p class="cut">These are the latest ${ACTIVITY_LINES_SHOWN_MAX} lines; the step record keeps every call.</p>`,
  )
}

function lineOf({ at, kind, text, failed }: ProgressShown['activity'][number], startedAt: number, now: number | null): Html {
  return markup`<li${failed === true && markup` class="failed"`}><span class="clock">${clockOf(at - startedAt)}</span> <span class="kind">${inline(kind)}</span> <span>${
    failed === true && markup`<b>Failed:</b> `
  }${inline(text)}${now !== null && markup` <span class="cut">${lasting(now - at)} ago</span>`}</span></li>`
}

/** "+1:05" */
function clockOf(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  return `+${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
