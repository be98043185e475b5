/** One rule of the interface, in a sentence of its own, with the part it waits for when this build does not have that part yet. */
export type Rule = BuiltRule | LaterRule

interface BuiltRule {
  readonly id: string
  readonly section: string
  readonly rule: string
  readonly scope: 'built'
}
interface LaterRule extends Omit<BuiltRule, 'scope'> {
  readonly scope: 'later'
  /** The part that is missing. */
  readonly later: string
}

interface Postponed {
  readonly later: string
  readonly rule: string
}

/** A rule whose part is not there yet. */
export const later = (part: string, rule: string): Postponed => ({ later: part, rule })

/** The rules of one section, by id: a sentence for what is built, `later(…)` for what is not. */
export function section(title: string, rules: Readonly<Record<string, string | Postponed>>): readonly Rule[] {
  return Object.entries(rules).map(([id, rule]) =>
    typeof rule === 'string' ? { id, section: title, rule, scope: 'built' } : { id, section: title, scope: 'later', ...rule },
  )
}
