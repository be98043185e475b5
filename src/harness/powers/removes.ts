/** The power `removes`: what a person wrote or protected is removed, disabled, overwritten, or replaced by another entry in its place. */
import { isDeepStrictEqual } from 'node:util'
import { NAMED_KINDS, type Adapter, type Entry, type PowerReason } from '../../contract/index.ts'
import { linesOf } from '../prose/tokens.ts'
import { folded, isKept, type EntryPair } from './change.ts'

export function removeReasons(
  adapter: Adapter,
  before: readonly Entry[],
  after: readonly Entry[],
  changes: readonly EntryPair[],
): readonly PowerReason[] {
  return [...changes.flatMap(takenBack), ...moved(before, after), ...replaced(adapter, after, changes)]
}

/** Among the entries of both trees: what comes before or after a rule may turn its meaning around. */
function moved(before: readonly Entry[], after: readonly Entry[]): readonly PowerReason[] {
  const [old, now] = [placesIn(before, after), placesIn(after, before)]
  return before
    .filter((entry) => isKept(entry) && old.get(entry.id) !== now.get(entry.id))
    .map(({ id }) => ({ power: 'removes', entry: id, why: 'it moves what a person wrote among the other entries' }))
}

function placesIn(entries: readonly Entry[], others: readonly Entry[]): ReadonlyMap<string, number> {
  const ids = new Set(others.map(({ id }) => id))
  return new Map(entries.filter(({ id }) => ids.has(id)).map(({ id }, place) => [id, place]))
}

function takenBack({ before, after }: EntryPair): readonly PowerReason[] {
  if (before === null || !isKept(before)) return []
  const what = before.protected === true ? 'a person protected' : 'a person wrote'
  const reason = (done: string): readonly PowerReason[] => [{ power: 'removes', entry: before.id, why: `it ${done} what ${what}` }]
  if (after === null) return reason('removes')
  if (after.disabled === true && before.disabled !== true) return reason('disables')
  if (after.disabled !== true && before.disabled === true) return reason('enables again')
  if (!isKept(after) || (before.protected === true && after.protected !== true)) return reason('no longer protects')
  return onlyAdds(before, after) ? [] : reason('overwrites')
}

/** Of a protected entry every change counts. The settings of config entries are compared after merging. */
function onlyAdds(before: Entry, after: Entry): boolean {
  if (before.name !== after.name) return false
  if (isDeepStrictEqual(before.config, after.config)) return true
  if (before.protected === true) return false
  const { text: old, ...others } = before.config
  const { text: now, ...rest } = after.config
  if (before.name === 'config') return true
  if (!isDeepStrictEqual(others, rest)) return false
  return typeof old === 'string' && typeof now === 'string' && keepsLines(linesOf(old.trim()), linesOf(now))
}

/** Every old line is still there, in its order. */
function keepsLines(old: readonly string[], now: readonly string[]): boolean {
  let next = 0
  for (const line of now) if (next < old.length && line.trimEnd() === old[next]?.trimEnd()) next += 1
  return next === old.length
}

/** An entry that is rendered where a person's entry was, or would be. */
function replaced(adapter: Adapter, after: readonly Entry[], changes: readonly EntryPair[]): readonly PowerReason[] {
  const kept = [...changes.flatMap(({ before }) => before ?? []), ...after].filter((entry) => isKept(entry))
  const places = new Map(kept.flatMap((entry) => placeOf(adapter, entry).map((place): [string, string] => [place, entry.id])))
  return changes.flatMap(({ after: now }) =>
    (now === null ? [] : placeOf(adapter, now)).flatMap((place): PowerReason[] => {
      const owner = places.get(place)
      return owner === undefined || owner === now?.id ? [] : [{ power: 'removes', entry: owner, why: `it is replaced by ${now?.id}` }]
    }),
  )
}

/** Its file, and what it is called by: some file systems do not tell case or forms of a letter apart, nor a skill from a command. */
function placeOf({ layout }: Adapter, { name: kind, config: { name } }: Entry): readonly string[] {
  const known = NAMED_KINDS.find((each) => each === kind)
  const template = known === undefined ? undefined : layout.named[known]
  if (template === undefined || typeof name !== 'string') return []
  const called = kind === 'skill' || kind === 'agent_command' ? [`/${name}`] : []
  return [template.replaceAll('{name}', () => name), ...called].map(folded)
}
