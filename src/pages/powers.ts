/** The card of what a change may do on a machine: a sentence for each power, the entries and why, and what a person has to allow. */
import type { ShownPower, StepPowers } from '../presentation/index.ts'
import { card } from './frame.ts'
import { markup, type Html } from './html.ts'
import { code, inline } from './prose.ts'

/** Nothing of a step that changes no harness. */
export function powersCard(powers: StepPowers | null): Html | null {
  if (powers === null) return null
  const { title, tone, summary, powers: shown } = powers
  if (shown.length === 0) return card(title, markup`<p>${summary}</p>`)
  return card(
    title,
    markup`<ul class="needs">
      ${shown.map(powerOf)}
    </ul>`,
    markup`<p class="summary ${tone}">${inline(summary)}</p>`,
  )
}

const powerOf = ({ sentence, isHeld, reasons, more }: ShownPower): Html =>
  markup`<li>
    <b>${inline(sentence)}</b>${isHeld && markup` <span class="kind">needs a person</span>`}
    ${reasons.map(({ entry, why }) => markup`<p class="cut">${code(entry)} ${inline(why)}</p>`)} ${more !== null && markup`<p class="cut">${more}</p>`}
  </li>`
