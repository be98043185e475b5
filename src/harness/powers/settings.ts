/** The powers of settings: every field whose value differs once all entries are merged, in either direction. */
import { isObject, type Adapter, type AdapterPowers, type Entry, type Json, type Power, type PowerReason } from '../../contract/index.ts'
import { merged } from '../render.ts'
import { configIn } from '../support/settings.ts'
import { isKept, reasonsFor } from './change.ts'

export function settingReasons(
  adapter: Adapter,
  { settings }: AdapterPowers,
  before: readonly Entry[],
  after: readonly Entry[],
): readonly PowerReason[] {
  const listed = Object.entries(settings).map(([path, powers]): ListedPath => ({ path: path.split('.'), powers }))
  const [old, now] = [settingsOf(adapter, before), settingsOf(adapter, after)]
  const changed = [...new Set([...now.keys(), ...old.keys()])].filter((key) => now.get(key)?.value !== old.get(key)?.value)
  const kept = keptFields(before)
  return changed.flatMap((key) => {
    const was = old.get(key)
    const field = now.get(key) ?? was
    if (field === undefined) return []
    const at = field.path.join('.')
    const owner = was === undefined ? undefined : kept.get(`${key} ${was.value}`)
    const overwrites: PowerReason[] =
      owner === undefined ? [] : [{ power: 'removes', entry: owner, why: `it overwrites the setting ${at}` }]
    return [
      ...reasonsFor(powersAt(listed, field.path), field.entry, `it changes the setting ${at}`),
      ...markReasons(field, at),
      ...overwrites,
    ]
  })
}

/** By key and value: what a person set stays theirs where a later entry sets the same. */
function keptFields(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const all = entries.filter(isKept).flatMap((entry) => configIn([entry]).map((one) => ({ ...one, isDisabled: entry.disabled === true })))
  return new Map(
    all.flatMap(({ id, target, data, isDisabled }) =>
      fieldsOf(data, [target]).map(({ key, value }): [string, string] => [`${isDisabled ? `disabled ${id} ` : ''}${key} ${value}`, id]),
    ),
  )
}

/** Marks in whose place some program puts what the machine has: no agent's own are enough, since what it starts may know others. */
const MARKS: readonly { readonly pattern: RegExp; readonly power: Power }[] = [
  { pattern: /\$[A-Za-z_{]|\{\s*\w+\s*:|%\w+%/, power: 'reads' },
  { pattern: /\$\(|!\s*`/, power: 'runs' },
]

function markReasons({ path, value, entry }: Field, at: string): readonly PowerReason[] {
  const texts = [...path, value]
  return MARKS.filter(({ pattern }) => texts.some((text) => pattern.test(text))).map(({ power }) => ({
    power,
    entry,
    why: `it puts a mark into the setting ${at}, in whose place a program may put what the machine has`,
  }))
}

interface ListedPath {
  readonly path: readonly string[]
  readonly powers: readonly Power[]
}

/** The powers of the most exact listed path that covers the field: the longest, and with a name rather than `*`. */
function powersAt(listed: readonly ListedPath[], path: readonly string[]): readonly Power[] | undefined {
  const covers = (pattern: readonly string[]): boolean =>
    pattern.length <= path.length && pattern.every((step, index) => step === '*' || step === path[index])
  const names = ({ path: pattern }: ListedPath): number => pattern.filter((step) => step !== '*').length
  return listed
    .filter((one) => covers(one.path))
    .toSorted((one, other) => other.path.length - one.path.length || names(other) - names(one))[0]?.powers
}

interface Field {
  readonly path: readonly string[]
  /** As JSON. */
  readonly value: string
  readonly entry: string
}

/** The fields in force after merging, and those of disabled entries, which a later change may enable. */
function settingsOf({ layout }: Adapter, entries: readonly Entry[]): ReadonlyMap<string, Field> {
  const enabled = configIn(entries.filter(({ disabled }) => disabled !== true))
  const owners = new Map(enabled.flatMap(({ id, target, data }) => fieldsOf(data, [target]).map(({ key }): [string, string] => [key, id])))
  const targets = new Set([...Object.keys(layout.config), ...enabled.map(({ target }) => target)])
  const inForce = [...targets].flatMap((target) => {
    const defaults = Object.hasOwn(layout.config, target) ? (layout.config[target]?.defaults ?? {}) : {}
    return fieldsOf(
      enabled.filter((each) => each.target === target).reduce((whole, { data }) => merged(whole, data), defaults),
      [target],
    )
  })
  const disabled = configIn(entries.filter((entry) => entry.disabled === true)).flatMap(({ id, target, data }) =>
    fieldsOf(data, [target]).map(({ key, path, value }): [string, Field] => [`disabled ${id} ${key}`, { path, value, entry: id }]),
  )
  return new Map([
    ...inForce.map(({ key, path, value }): [string, Field] => [key, { path, value, entry: owners.get(key) ?? 'config' }]),
    ...disabled,
  ])
}

/** Every value that is no object or list, with its path; empty ones too, but not a file without settings. */
function fieldsOf(value: Json, path: readonly string[]): readonly { key: string; path: readonly string[]; value: string }[] {
  const members: readonly [string, Json][] = Array.isArray(value) || isObject(value) ? Object.entries(value) : []
  if (members.length > 0) return members.flatMap(([name, member]) => fieldsOf(member, [...path, name]))
  return path.length > 1 ? [{ key: JSON.stringify(path), path, value: JSON.stringify(value) }] : []
}
