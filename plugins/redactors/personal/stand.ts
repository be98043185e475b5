/** What stands in the place of personal data: its kind and a number, the same for the same data everywhere in a record. */

/** Takes one kind of personal data out of a text. */
export type Without = (text: string, stand: Stand) => string

export class Stand {
  readonly #numbers = new Map<string, Map<string, number>>()

  /** Data that differs only in how it is written is given as the same. */
  for(kind: string, same: string): string {
    const known = this.#numbers.get(kind) ?? new Map<string, number>()
    const number = known.get(same) ?? known.size + 1
    this.#numbers.set(kind, known.set(same, number))
    return `[${kind} ${number}]`
  }
}

/** JSON inside a text stays JSON: an escape such as `\n` or `\u00e9` is not cut in two. */
const WHOLE_ESCAPE = '(?<!\\\\(?:u[0-9a-fA-F]{0,3})?)'

/** Where none of these stands before; a line that is broken by an escape begins anew. */
export const startAfterNone = (before: string): string => `(?:(?<=\\\\[bfnrt])|${WHOLE_ESCAPE}(?<![${before}]))`

export const digitsIn = (text: string): string => text.replaceAll(/\D/g, '')
