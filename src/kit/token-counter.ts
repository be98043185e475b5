/** Reads how many tokens a model call took out of its answer, whole or streamed, in any provider's format. What the answer does not say is estimated by length. */

export interface TokenCounts {
  /** All tokens of the question, cached ones included. */
  readonly input: number
  /** Those of them that the provider had in its cache. */
  readonly cached: number
  readonly output: number
}

/** A text has about as many bytes to a token. */
const BYTES_PER_TOKEN = 4

/** Every name that a format counts tokens by. Inside a JSON text a quote is escaped, so none of these is words of the model. */
const COUNT =
  /"((?:cache_creation_|cache_read_)?input_tokens|prompt_tokens|output_tokens|completion_tokens|cached_tokens|(?:prompt|candidates|thoughts|cachedContent)TokenCount)"\s*:\s*(\d{1,15})/g
const MODEL = /"model(?:Version)?"\s*:\s*"([^"\\]{1,200})"/
/** As long as anything that is looked for. */
const TAIL_CHARACTERS = 256

const INPUT = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'prompt_tokens', 'promptTokenCount'] as const
const CACHED = ['cache_read_input_tokens', 'cached_tokens', 'cachedContentTokenCount'] as const
const OUTPUT = ['output_tokens', 'completion_tokens', 'candidatesTokenCount', 'thoughtsTokenCount'] as const

export class TokenCounter {
  readonly #said = new Map<string, number>()
  #asked = 0
  #answered = 0
  #tail = ''
  #model: string | null = null

  /** Bytes of the question. */
  ask(bytes: number): void {
    this.#asked += bytes
  }

  /** A part of the answer. */
  read(part: Buffer): void {
    this.#answered += part.length
    const text = this.#tail + part.toString('latin1')
    // A stream repeats counts as they grow.
    for (const [, name = '', count = ''] of text.matchAll(COUNT)) this.#said.set(name, Math.max(this.#said.get(name) ?? 0, Number(count)))
    this.#model ??= MODEL.exec(text)?.[1] ?? null
    this.#tail = text.slice(-TAIL_CHARACTERS)
  }

  /** As the answer names it. */
  get model(): string | null {
    return this.#model
  }

  /** Which of the counts the answer says; the others are estimated. */
  get says(): { readonly input: boolean; readonly output: boolean } {
    return { input: this.#sum(INPUT) > 0, output: this.#sum(OUTPUT) > 0 }
  }

  get answeredBytes(): number {
    return this.#answered
  }

  counts(): TokenCounts {
    const [input, cached, output] = [this.#sum(INPUT), this.#sum(CACHED), this.#sum(OUTPUT)]
    return {
      input: input === 0 ? Math.ceil(this.#asked / BYTES_PER_TOKEN) : input,
      cached: Math.min(cached, input),
      output: output === 0 ? Math.ceil(this.#answered / BYTES_PER_TOKEN) : output,
    }
  }

  #sum(names: readonly string[]): number {
    return names.reduce((all, name) => all + (this.#said.get(name) ?? 0), 0)
  }
}
