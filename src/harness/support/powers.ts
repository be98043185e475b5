/** What the powers of several adapters share. */
import type { Power, TextPower } from '../../contract/index.ts'

/** The same powers for several fields below a prefix. */
export const powersFor = (
  powers: readonly Power[],
  prefix: string,
  ...fields: readonly string[]
): Readonly<Record<string, readonly Power[]>> => Object.fromEntries(fields.map((field) => [`${prefix}${field}`, powers]))

/** Agents differ in which sign before it makes an import, so every one counts. */
export const IMPORTS: TextPower = { pattern: /@/, power: 'reads', why: 'an @, by which the agent may read a file into its prompt' }

/** An argument that is left out puts the marks beside each other, so a variable between them counts too. */
export const PROGRAMS: TextPower = {
  pattern: /!\s*[`$]|[`}]!/,
  power: 'runs',
  why: 'an exclamation mark beside a backquote or a variable, by which the agent may run a program',
}
