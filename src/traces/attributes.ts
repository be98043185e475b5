/** Attributes as the wire spells them. What is not of the kind a name promises is left out: a collector that refuses one span refuses the batch. */

export interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}
/** Whole numbers are 64 bits wide on the wire, and travel as text. */
type AnyValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }

/** What callers put into a request is as long as they like; an attribute is not. */
const TEXT_CHARACTERS_MAX = 1024
const TEXTS_MAX = 16

export class Attributes {
  readonly list: KeyValue[] = []

  text(key: string, value: unknown): this {
    return typeof value === 'string' && value !== '' ? this.#add(key, { stringValue: shortened(value) }) : this
  }

  /** Bounded by whoever made it. */
  json(key: string, printed: string | null): this {
    return printed === null ? this : this.#add(key, { stringValue: printed })
  }

  texts(key: string, values: readonly unknown[]): this {
    const texts = values.filter((value) => typeof value === 'string').slice(0, TEXTS_MAX)
    return texts.length === 0 ? this : this.#add(key, { arrayValue: { values: texts.map((text) => ({ stringValue: shortened(text) })) } })
  }

  whole(key: string, value: unknown): this {
    return Number.isSafeInteger(value) ? this.#add(key, { intValue: String(value) }) : this
  }

  number(key: string, value: unknown): this {
    return typeof value === 'number' && Number.isFinite(value) ? this.#add(key, { doubleValue: value }) : this
  }

  flag(key: string, value: boolean): this {
    return this.#add(key, { boolValue: value })
  }

  #add(key: string, value: AnyValue): this {
    this.list.push({ key, value })
    return this
  }
}

/** Text the wire can hold: half a character, which JSON may bring in, is none. */
export function shortened(text: string, charactersMax = TEXT_CHARACTERS_MAX): string {
  return text.slice(0, charactersMax).toWellFormed()
}
