/** TraceSpan attributes in OTLP's JSON. A value of the wrong type is left out: a collector that refuses one span refuses the batch. */

export interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}
/** OTLP writes 64-bit integers as text. */
type AnyValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }

/** Request fields may have any length; attributes may not. */
const TEXT_CHARACTERS_MAX = 1024
const TEXTS_MAX = 16

export class Attributes {
  readonly list: KeyValue[] = []

  text(key: string, value: unknown): this {
    return typeof value === 'string' && value !== '' ? this.#add(key, { stringValue: shortened(value) }) : this
  }

  /** The caller bounds the length. */
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

/** Replaces lone surrogates, which JSON allows and OTLP does not. */
export function shortened(text: string, charactersMax = TEXT_CHARACTERS_MAX): string {
  return text.slice(0, charactersMax).toWellFormed()
}
