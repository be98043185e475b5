/** One rule of the interface, in a sentence of its own. */
export interface Rule {
  readonly id: string
  readonly section: string
  readonly rule: string
}

/** The rules of one section, by id. */
export function section(title: string, rules: Readonly<Record<string, string>>): readonly Rule[] {
  return Object.entries(rules).map(([id, rule]) => ({ id, section: title, rule }))
}
