/** The powers of texts: what a model would take as an order, what the agent acts on itself, and what people do not see. */
import type { AdapterPowers, Entry, PowerReason } from '../../contract/index.ts'
import { screenText } from '../../kit/index.ts'
import { textsIn } from '../screens.ts'
import { baselineOf, entryOf, type EntryPair } from './change.ts'

export function textReasons(
  powers: AdapterPowers,
  _before: readonly Entry[],
  _after: readonly Entry[],
  changes: readonly EntryPair[],
): readonly PowerReason[] {
  return changes.flatMap((change) => {
    const { id } = entryOf(change)
    const old = new Set(linesOf(baselineOf(change)))
    return linesOf(change.after)
      .filter((line) => !old.has(line))
      .flatMap((line) => lineReasons(powers, id, line))
  })
}

function linesOf(entry: Entry | null): readonly string[] {
  if (entry === null) return []
  return [...textsIn(entry.config, 'config')].flatMap(([, text]) => text.split('\n'))
}

function lineReasons({ texts }: AdapterPowers, entry: string, line: string): readonly PowerReason[] {
  const acted = texts
    .filter(({ pattern }) => new RegExp(pattern.source, pattern.flags).test(line))
    .map(({ power, why }): PowerReason => ({ power, entry, why: `it holds ${why}` }))
  const orders: PowerReason[] =
    screenText(line) === null && !/\w:\/\//.test(line) ? [] : [{ power: 'orders', entry, why: 'it holds an order or an address' }]
  return [...acted, ...orders]
}
