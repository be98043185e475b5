/** The powers of a change on a machine, beside what it changes: a sentence for each, the entries and why, and what a person has to allow. */
import type { ShownPower, StepPowers } from '../presentation/index.ts'
import { markup, type Html, type Piece } from './html.ts'
import { code, inline } from './prose.ts'

/** Nothing of a step that changes no harness. */
export function powersPart(powers: StepPowers | null): Piece {
  if (powers === null) return null
  const { title, tone, summary, powers: shown } = powers
  if (shown.length === 0) return markup`<h3>${title}</h3><p>${summary}</p>`
  return [
    markup`<h3>${title}</h3>
      <ul class="needs">
        ${shown.map(powerOf)}
      </ul>`,
    markup`<p class="summary ${tone}">${inline(summary)}</p>`,
  ]
}

const powerOf = ({ sentence, isHeld, reasons, more }: ShownPower): Html =>
  markup`<li>
    <b>${inline(sentence)}</b>${isHeld && markup` <span class="kind">needs a person</span>`}
    ${reasons.map(({ entry, why }) => markup`<p class="cut">${code(entry)} ${inline(why)}</p>`)} ${more !== null && markup`<p class="cut">${more}</p>`}
  </li>`
