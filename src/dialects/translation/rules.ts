/** What of a request can be translated, as a table for each format: a field without a rule is refused by its name. */
import { isObject, type Json } from '../../contract/index.ts'
import { isNumber } from '../digits.ts'
import { isList, objectOf } from '../values.ts'

/** Throws Untranslatable for what cannot be; names in `leftOut` what is not needed for the answer to be right. */
export type Rule = (value: Json, where: string, leftOut: string[]) => void

export class Untranslatable extends Error {
  readonly where: string

  constructor(where: string, why: string) {
    super(why)
    this.where = where
  }
}

/** The reader of the format takes it in, whatever it is. */
export const read: Rule = () => undefined

/** What only helps the provider (to cache, to bill, to think, to tell users apart): the answer is right without it. */
export const hint: Rule = (_value, where, leftOut) => {
  leftOut.push(where)
}

export const text: Rule = (value, where) => {
  if (typeof value !== 'string') throw new Untranslatable(where, 'it must be a text')
}

export const number: Rule = (value, where) => {
  if (!isNumber(value)) throw new Untranslatable(where, 'it must be a number')
}

/** Of tokens. */
export const limit: Rule = (value, where) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1)
    throw new Untranslatable(where, 'it must be a whole number above 0')
}

export const flag: Rule = (value, where) => {
  if (typeof value !== 'boolean') throw new Untranslatable(where, 'it must be true or false')
}

export const object: Rule = (value, where) => {
  if (!isObject(value)) throw new Untranslatable(where, 'it must be an object')
}

/** These values say what is so anyway. */
export function only(...values: readonly Json[]): Rule {
  const known = values.map((value) => JSON.stringify(value))
  return (value, where) => {
    if (!known.includes(JSON.stringify(value))) throw new Untranslatable(where, `it can only be ${known.join(' or ')} here`)
  }
}

/** A member that is null is as good as absent. */
export function fields(rules: Readonly<Record<string, Rule>>): Rule {
  return (value, where, leftOut) => {
    object(value, where, leftOut)
    for (const [name, member] of Object.entries(objectOf(value))) {
      if (member === null) continue
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
      const at = where === '' ? name : `${where}.${name}`
      if (rule === undefined) throw new Untranslatable(at, 'it has no counterpart')
      rule(member, at, leftOut)
    }
  }
}

export function list(rule: Rule): Rule {
  return (value, where, leftOut) => {
    if (!isList(value)) throw new Untranslatable(where, 'it must be a list')
    for (const [at, member] of value.entries()) rule(member, `${where}.${at}`, leftOut)
  }
}

export function textOr(rule: Rule, words: Rule = text): Rule {
  return (value, where, leftOut) => (typeof value === 'string' ? words : rule)(value, where, leftOut)
}

/** The member `by` says which rule it is under; without it, the rule named ''. */
export function kinds(rules: Readonly<Record<string, Rule>>, by = 'type'): Rule {
  return (value, where, leftOut) => {
    object(value, where, leftOut)
    const kind = objectOf(value)[by] ?? ''
    const rule = typeof kind === 'string' && Object.hasOwn(rules, kind) ? rules[kind] : undefined
    if (rule === undefined) throw new Untranslatable(`${where}.${by}`, `${JSON.stringify(kind).slice(0, 80)} has no counterpart`)
    rule(value, where, leftOut)
  }
}
