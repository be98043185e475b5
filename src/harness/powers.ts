/** The powers of a change: what it could do on a machine. Pure; whatever is not known has every power. */
import { isObject, POWERS, type Adapter, type AdapterPowers, type Entry, type Power, type PowerReason } from '../contract/index.ts'
import { changesBetween, entryOf, reasonsFor, type EntryPair } from './powers/change.ts'
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
    ...changes.flatMap((change) => headReasons(powers, change)),
    ...settingReasons(adapter, powers, before, after),
    ...textReasons(powers, before, after, changes),
    ...removeReasons(adapter, after, changes),
  ]
  if (found.length > 0) return distinct(found)
  const [first] = changes.map(entryOf)
  return first === undefined ? [] : [{ power: 'words', entry: first.id, why: 'only text for the model changes' }]
}

/** In the order of POWERS. */
export const powersIn = (reasons: readonly PowerReason[]): readonly Power[] =>
  POWERS.filter((power) => reasons.some((reason) => reason.power === power))

function distinct(reasons: readonly PowerReason[]): readonly PowerReason[] {
  return [...new Map(reasons.map((reason) => [JSON.stringify([reason.power, reason.entry, reason.why]), reason])).values()]
}

/** Code runs whatever an adapter says of its kind. A config entry has the powers of its settings. */
function kindReasons({ kinds }: AdapterPowers, change: EntryPair): readonly PowerReason[] {
  const { id, name, config } = entryOf(change)
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
  const names = typeof name === 'string' ? [id, name] : [id]
  return [
    ...(typeof name === 'string' && taken.has(folded(name)) ? [runs(id, `it takes the name ${name}, which the service ships`)] : []),
    ...(names.every((each) => PLAIN_NAME.test(each))
      ? []
      : [{ power: 'hidden', entry: id, why: 'its name may look like another' } as const]),
  ]
}

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
const folded = (name: string): string => name.normalize('NFKC').toLowerCase()
const runs = (entry: string, why: string): PowerReason => ({ power: 'runs', entry, why })
