/** What a change may do on a machine, as lines of a terminal. */
import type { ShownPower, StepPowers } from '../../presentation/index.ts'
import type { TerminalScreen } from './table.ts'
import { cut, oneLine, paint } from './text.ts'

export function powerLines({ title, summary, powers }: StepPowers, screen: TerminalScreen): readonly string[] {
  if (powers.length === 0) return [cut(oneLine(summary), screen.width)]
  return [`${title}:`, ...powers.flatMap((power) => linesOf(power, screen)), `  ${oneLine(summary)}`]
}

function linesOf({ sentence, isHeld, reasons, more }: ShownPower, screen: TerminalScreen): readonly string[] {
  const because = [...reasons.map(({ entry, why }) => `${oneLine(entry)}: ${oneLine(why)}`), ...(more === null ? [] : [more])]
  return [
    `  ${paint(oneLine(sentence), isHeld ? 'warning' : undefined, screen)}${isHeld ? ' It needs a person.' : ''}`,
    ...because.map((line) => cut(`    ${line}`, screen.width)),
  ]
}

/** "may run programs on your machine; may connect to other machines"; null of a change that is only words. */
export const powersInBrief = ({ powers }: StepPowers): string | null =>
  powers.length === 0 ? null : powers.map(({ sentence }) => oneLine(sentence.replace(/^This change /, '').replace(/\.$/, ''))).join('; ')
