/** The base model: its file, its vocabulary, its template, and contexts of it with an adapter or none. */
import { createHash } from 'node:crypto'
import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { invalid, unavailable, type ModelShape, type Refusal } from '../../../src/contract/index.ts'
import { readModelShape } from '../../../src/weights/index.ts'
import { tryCard } from './card-trial.ts'
import { openLibrary, type Library, type LlamaContext, type LlamaModel, type NativeSampler, type TemplateClass } from './library.ts'
import type { LlamaSettings } from './settings.ts'

/** Tokens evaluated at once. The native part cannot be aborted within a batch. */
export const BATCH_TOKENS = 256
/** The native part uses the process's few file threads: with more at once, every file read of the service would wait. */
export const EVALUATIONS_AT_ONCE = 2
/** Its threads spin while they wait for each other, and stand still where another program has one of their cores: one is left to others. */
const THREADS_UNASKED = Math.max(1, availableParallelism() - 1)
/** Contexts cost memory even unused, so longer ones must be configured. */
const CONTEXT_TOKENS_UNASKED_MAX = 4096
/** Enough to see whether an adapter fits. */
const TRIAL_TOKENS = 256
const HASHED_BYTES_AT_ONCE = 2 ** 20

export async function openBase(settings: LlamaSettings): Promise<Base> {
  const library = await openLibrary(settings.gpu)
  const file = await stat(settings.model).catch(() => null)
  if (file?.isFile() !== true)
    throw invalid('no_model', 'model (inference.engine.model) names a file that is not there; give the path of a GGUF file')
  if (library.llama.gpu !== false) await tryCard(settings.model)
  const model = await library.llama.loadModel({ modelPath: settings.model }).catch(async (error: unknown) => {
    throw invalid('bad_model', `the file that model (inference.engine.model) names cannot be loaded: ${await reasonOf(error, library)}`)
  })
  return new Base(settings, library, model, stampOf(file))
}

export class Base {
  readonly name: string
  readonly vocabulary: number
  readonly contextTokens: number
  /** The source of the model's own chat template; null when its file has none. */
  readonly template: string | null
  readonly Template: TemplateClass
  /** What it computes on: `cpu`, `cuda`, `vulkan` or `metal`. */
  readonly device: string
  readonly bos: string
  readonly eos: string
  readonly #settings: LlamaSettings
  readonly #library: Library
  readonly #model: LlamaModel
  /** Of the file as it was when it was loaded. */
  readonly #stamp: string
  #digest: Promise<string> | null = null

  constructor(settings: LlamaSettings, library: Library, model: LlamaModel, stamp: string) {
    const { general, tokenizer } = model.fileInfo.metadata
    this.name = typeof general?.name === 'string' && general.name !== '' ? general.name : basename(settings.model, '.gguf')
    this.vocabulary = tokenizer?.ggml?.tokens?.length ?? 0
    this.contextTokens = settings.contextTokens ?? Math.min(model.trainContextSize, CONTEXT_TOKENS_UNASKED_MAX)
    this.template = typeof tokenizer?.chat_template === 'string' ? tokenizer.chat_template : null
    this.Template = library.Template
    this.device = library.llama.gpu || 'cpu'
    this.bos = model.tokens.bosString ?? ''
    this.eos = model.tokens.eosString ?? ''
    this.#settings = settings
    this.#library = library
    this.#model = model
    this.#stamp = stamp
  }

  /** Words like `</s>` in the text are the tokens of that name, as the model's own template needs it. */
  tokenize(text: string): readonly number[] {
    return this.#model.tokenize(text, true)
  }

  /** Without the names of control tokens. What came before decides about a space at the beginning. */
  text(tokens: readonly number[], before: readonly number[] = []): string {
    return this.#model.detokenize(tokens, false, before)
  }

  isEnd(token: number): boolean {
    return this.#model.isEogToken(token)
  }

  /** Each sequence has room for so many tokens. */
  createContext(adapter: string | null, sequences: number, tokens: number = this.contextTokens): Promise<LlamaContext> {
    const { threads, gpu } = this.#settings
    return this.#model.createContext({
      contextSize: tokens,
      batchSize: Math.min(BATCH_TOKENS, tokens),
      sequences,
      // On a CPU it splits its sums by the number of threads, and the same call should say the same on a busy machine.
      flashAttention: gpu === 'auto' ? 'auto' : false,
      failedCreationRemedy: false,
      // The library shares them among evaluations that run at once.
      threads: threads ?? THREADS_UNASKED,
      ...(adapter !== null && { lora: { adapters: [{ filePath: adapter, scale: 1 }] } }),
    })
  }

  createSampler(): NativeSampler {
    return new this.#model._llama._bindings.AddonSampler(this.#model._model)
  }

  /** Throws Refusal when no context of the base can be made with it. */
  async tryAdapter(adapter: string): Promise<void> {
    try {
      const context = await this.createContext(adapter, 1, TRIAL_TOKENS)
      await context.dispose()
    } catch (error) {
      throw badAdapter(await reasonOf(error, this.#library))
    }
  }

  /** Frees an adapter that no context uses any more; its file is read again if it is loaded again. */
  async letGoOf(adapter: string): Promise<void> {
    const adapters = this.#model._loraAdapters
    const held = adapters?.get(adapter)
    adapters?.delete(adapter)
    await held?.dispose()
  }

  /** Of the file, read once. A changed file is not the model in memory. */
  async digest(): Promise<string> {
    const file = await stat(this.#settings.model).catch(() => null)
    if (file === null || stampOf(file) !== this.#stamp) throw modelChanged()
    this.#digest ??= sha256Of(this.#settings.model)
    return this.#digest
  }

  shape(): Promise<ModelShape> {
    return readModelShape(this.#settings.model)
  }

  dispose(): Promise<void> {
    return this.#model.dispose()
  }
}

const stampOf = ({ size, mtimeMs }: Stats): string => `${size}:${mtimeMs}`

const modelChanged = (): Refusal =>
  unavailable('model_changed', 'the file of the base model changed since it was loaded; put it back, or restart the service with it')

export const badAdapter = (why: string): Refusal => invalid('bad_adapter', `this is no adapter of the base model: ${why}`)

export const noRoom = (cause: unknown): Refusal =>
  unavailable(
    'engine_no_memory',
    'there is no memory for another context; lower inference.engine.parallel or inference.engine.context_tokens',
    {
      cause,
    },
  )

async function sha256Of(path: string): Promise<string> {
  const sum = createHash('sha256')
  for await (const part of createReadStream(path, { highWaterMark: HASHED_BYTES_AT_ONCE })) if (Buffer.isBuffer(part)) sum.update(part)
  return sum.digest('hex')
}

/** The message of the native part where there is one, without paths. */
async function reasonOf(error: unknown, library: Library): Promise<string> {
  // What it logs comes a little later than what it throws.
  await setImmediate()
  const said = library.lastComplaint()
  const [, why] = /: (failed .*)/.exec(said) ?? []
  const reason = why ?? (error instanceof Error ? error.message : 'it cannot be read')
  return reason.replaceAll(/["'][^"'/\\]*[/\\][^"']*["']/g, 'the file').trim()
}
