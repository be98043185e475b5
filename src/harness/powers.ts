/** The powers of a change: what it could do on a machine. Pure; whatever is not known has every power. */
import { isObject, POWERS, type Adapter, type AdapterPowers, type Entry, type Power, type PowerReason } from '../contract/index.ts'
import { changesBetween, entryOf, reasonsFor, type EntryPair } from './powers/change.ts'
import { headReasons } from './powers/head.ts'
import { likeReasons, nameReasons } from './powers/names.ts'
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
    ...removeReasons(adapter, before, after, changes),
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

const runs = (entry: string, why: string): PowerReason => ({ power: 'runs', entry, why })
