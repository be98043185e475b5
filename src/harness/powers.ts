/** The powers of a change: what it could do on a machine. Pure; whatever is not known has every power. */
import { isObject, POWERS, type Adapter, type AdapterPowers, type Entry, type Power, type PowerReason } from '../contract/index.ts'
import { changesBetween, entryOf, folded, reasonsFor, type EntryPair } from './powers/change.ts'
import { headReasons } from './powers/head.ts'
import { removeReasons } from './powers/removes.ts'
import { settingReasons } from './powers/settings.ts'
import { textReasons } from './powers/texts.ts'

/** An adapter without data knows nothing, so everything has every power. */
const UNKNOWN: AdapterPowers = { kinds: {}, settings: {}, head: {}, texts: [] }

/**
 * Why the change from one tree to another has each of its powers, each reason once. A change with nothing else is `words`; equal trees have no
 * powers. Disabled entries count too: the agent may read them in the tree, and a later change may enable them.
 */
export function powersOf(before: readonly Entry[], after: readonly Entry[], adapter: Adapter): readonly PowerReason[] {
  const powers = adapter.powers ?? UNKNOWN
  const changes = changesBetween(before, after)
  const found = [
    ...changes.flatMap((change) => [...kindReasons(powers, change), ...nameReasons(adapter, change)]),
    ...likeReasons(after, changes),
    ...changes.flatMap((change) => headReasons(powers, change)),
    ...settingReasons(adapter, powers, before, after),
    ...textReasons(powers, before, after, changes),
    ...removeReasons(adapter, after, changes),
  ]
  if (found.length > 0) return distinct(found)
  const [first] = changes.map(entryOf)
  if (first !== undefined) return [{ power: 'words', entry: first.id, why: 'only text for the model changes' }]
  const moved = after.find(({ id }, index) => before[index]?.id !== id)
  return moved === undefined ? [] : [{ power: 'words', entry: moved.id, why: 'only the order of entries changes' }]
}

/** In the order of POWERS. */
export const powersIn = (reasons: readonly PowerReason[]): readonly Power[] =>
  POWERS.filter((power) => reasons.some((reason) => reason.power === power))

function distinct(reasons: readonly PowerReason[]): readonly PowerReason[] {
  return [...new Map(reasons.map((reason) => [JSON.stringify([reason.power, reason.entry, reason.why]), reason])).values()]
}

/** Of the kind it was too: a guard that becomes plain text no longer runs. */
function kindReasons(powers: AdapterPowers, { before, after }: EntryPair): readonly PowerReason[] {
  return [before, after].flatMap((entry) => (entry === null ? [] : kindReasonsOf(powers, entry)))
}

/** Code runs whatever an adapter says of its kind. A config entry has the powers of its settings. */
function kindReasonsOf({ kinds }: AdapterPowers, { id, name, config }: Entry): readonly PowerReason[] {
  const listed = Object.entries(kinds).find(([kind]) => kind === name)?.[1]
  const isSettings = name === 'config' && isObject(config['data'])
  const code = typeof config['code'] === 'string' ? [runs(id, 'it holds code')] : []
  return isSettings ? code : [...code, ...reasonsFor(listed, id, `it changes an entry of kind ${name}`)]
}

/** A name that the service or the agent uses itself would be called in its place, and an odd one may look like another. */
function nameReasons({ binary, shipped }: Adapter, change: EntryPair): readonly PowerReason[] {
  const { id, config } = entryOf(change)
  const ours = [...(shipped?.requests ?? []), ...(shipped?.version_check ?? [])].filter((entry) => entry.id !== id)
  const taken = new Set([binary, ...ours.map((entry) => entry.config['name'])].filter((name) => typeof name === 'string').map(folded))
  const { name } = config
  return [
    ...(typeof name === 'string' && taken.has(folded(name)) ? [runs(id, `it takes the name ${name}, which the service ships`)] : []),
    ...(wordsFor(entryOf(change)).every((each) => PLAIN_NAME.test(each))
      ? []
      : [{ power: 'hidden', entry: id, why: 'its name may look like another' } as const]),
  ]
}

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** A person who reviews a change, or calls a skill, takes two such ids or names for one. */
function likeReasons(after: readonly Entry[], changes: readonly EntryPair[]): readonly PowerReason[] {
  const words = after.flatMap((entry) => wordsFor(entry).map((word) => ({ id: entry.id, word })))
  const groups = Map.groupBy(words, ({ word }) => alike(word))
  return changes.flatMap(({ after: now }) =>
    (now === null ? [] : wordsFor(now)).flatMap((word): PowerReason[] => {
      const other = groups.get(alike(word))?.find((each) => each.id !== now?.id && each.word !== word)
      return now === null || other === undefined ? [] : [{ power: 'hidden', entry: now.id, why: `${word} looks like ${other.word}` }]
    }),
  )
}

const wordsFor = ({ id, config: { name } }: Entry): readonly string[] => (typeof name === 'string' ? [id, name] : [id])

const LOOKALIKES: Readonly<Record<string, string>> = { '0': 'o', '1': 'l', i: 'l', rn: 'm', vv: 'w', _: '-', '.': '-' }
const alike = (id: string): string =>
  folded(id)
    .replaceAll(/rn|vv|[01i_.]/g, (sign) => LOOKALIKES[sign] ?? sign)
    .replace(/-+$/, '')

const runs = (entry: string, why: string): PowerReason => ({ power: 'runs', entry, why })
