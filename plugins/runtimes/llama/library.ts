/** The used part of node-llama-cpp: loaded on first use from the folder that `svc runtime add llama` made. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LLAMA_PACKAGE, runtimeFolder, unavailable, type Refusal } from '../../../src/contract/index.ts'

interface Llama {
  /** What it computes on; false is the processor. */
  readonly gpu: string | false
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>
}
export interface LlamaModel {
  readonly trainContextSize: number
  readonly tokens: { readonly bosString: string | null; readonly eosString: string | null }
  readonly fileInfo: { readonly metadata: Metadata }
  /** Every adapter that a context was made with, by its path. The library itself never lets go of one. */
  readonly _loraAdapters?: Map<string, { dispose(): Promise<void> }>
  readonly _llama: { readonly _bindings: { readonly AddonSampler: new (model: unknown) => NativeSampler } }
  readonly _model: unknown
  tokenize(text: string, specialTokens: boolean): number[]
  detokenize(tokens: readonly number[], specialTokens: boolean, lastTokens: readonly number[]): string
  isEogToken(token: number): boolean
  createContext(options: ContextOptions): Promise<LlamaContext>
  dispose(): Promise<void>
}
interface Metadata {
  readonly general?: { readonly name?: unknown }
  readonly tokenizer?: { readonly chat_template?: unknown; readonly ggml?: { readonly tokens?: readonly unknown[] } }
}
interface ContextOptions {
  readonly contextSize: number
  readonly batchSize: number
  readonly sequences: number
  readonly flashAttention: 'auto' | false
  readonly failedCreationRemedy: false
  readonly threads: number
  readonly lora?: { readonly adapters: readonly { readonly filePath: string; readonly scale: number }[] }
}
export interface LlamaContext {
  /** The library's own questions sort the whole vocabulary for every token, which takes as long as a small model. */
  readonly _ctx: { sampleToken(...question: SampleQuestion): Promise<SampleAnswer> }
  getSequence(): LlamaSequence
  dispose(): Promise<void>
}
export interface LlamaSequence {
  readonly nextTokenIndex: number
  eraseContextTokenRanges(ranges: readonly { readonly start: number; readonly end: number }[]): Promise<void>
  /** Whatever is asked for in one tick, by sequences of one context, is evaluated together. What `read` returns must not fail. */
  _decodeTokens<T>(
    tokens: readonly number[],
    isRead: readonly boolean[],
    priority: number,
    meter: undefined,
    contextShift: object,
    read: (batchIndex: number, at: number) => Promise<T>,
  ): Promise<readonly (T | undefined)[]>
}
export interface NativeSampler {
  applyConfig(config: { readonly temperature: number; readonly topK?: number; readonly seed?: number }): void
  dispose(): void
}
/** After the sampler: two that are off, which logits are wanted, and whether the sum of all weights is. */
export type SampleQuestion = readonly [
  batchIndex: number,
  sampler: NativeSampler,
  probabilities: false,
  confidence: false,
  logits: readonly [tokens: readonly number[], greatest: false, least: false, selected: boolean, likeliest: number],
  weight: boolean,
]
/** The logits are pairs of a token and its value, in one list. */
type SampleAnswer = readonly [token: number, probabilities: unknown, confidence: unknown, logits?: readonly number[], weight?: number]

export interface Library {
  readonly llama: Llama
  readonly Template: TemplateClass
  /** The last complaint of the native code, which names the reason of what is thrown. */
  readonly lastComplaint: () => string
}
export type TemplateClass = new (source: string) => { render(items: Readonly<Record<string, unknown>>): string }

interface LlamaModule {
  getLlama(options: {
    readonly build: 'never'
    readonly gpu: 'auto' | false
    readonly skipDownload: true
    readonly logLevel: 'warn'
    readonly logger: (level: string, message: string) => void
  }): Promise<Llama>
}

interface JinjaModule {
  readonly Template: TemplateClass
}

/** One for the process, since its native part is shared. */
const opened = new Map<'auto' | 'off', Promise<Library>>()

export function openLibrary(gpu: 'auto' | 'off'): Promise<Library> {
  const known = opened.get(gpu)
  if (known !== undefined) return known
  const opening = load(gpu)
  opened.set(gpu, opening)
  opening.catch(() => opened.delete(gpu))
  return opening
}

async function load(gpu: 'auto' | 'off'): Promise<Library> {
  const modules = join(runtimeFolder('llama', process.env), 'node_modules')
  const main = join(modules, LLAMA_PACKAGE.name, 'dist/index.js')
  if (!existsSync(main))
    throw unavailable('runtime_not_installed', 'the llama runtime is not installed on this machine; install it with: svc runtime add llama')
  const [library, jinja] = await Promise.all([main, join(modules, '@huggingface/jinja/dist/index.js')].map(importFrom))
  if (!isLlama(library) || !isJinja(jinja)) throw notUsable(null)
  let complaint = ''
  const logger = (_: string, message: string): void => {
    complaint = message
  }
  const options = { build: 'never', skipDownload: true, logLevel: 'warn', logger } as const
  const llama = await library.getLlama({ ...options, gpu: gpu === 'auto' ? 'auto' : false }).catch((error: unknown) => {
    throw notUsable(error)
  })
  return { llama, Template: jinja.Template, lastComplaint: () => complaint }
}

async function importFrom(file: string): Promise<object> {
  try {
    const module: object = await import(pathToFileURL(file).href)
    return module
  } catch (error) {
    throw notUsable(error)
  }
}

/** The folder was installed from its lock file, so nothing more is checked. */
const isLlama = (module: object | undefined): module is LlamaModule =>
  module !== undefined && 'getLlama' in module && typeof module.getLlama === 'function'

const isJinja = (module: object | undefined): module is JinjaModule =>
  module !== undefined && 'Template' in module && typeof module.Template === 'function'

const notUsable = (cause: unknown): Refusal =>
  unavailable(
    'runtime_not_usable',
    'the llama runtime is installed, but does not work on this machine; run: svc runtime add llama --force',
    {
      cause,
    },
  )
