/** A deterministic engine in memory for tests, with faults to switch on and a log of its calls. */
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  conflict,
  unknown,
  upstream,
  type AdapterFolder,
  type AdapterSpan,
  type ChatAnswer,
  type Engine,
  type EngineChat,
  type EngineModel,
  type Generation,
  type JsonObject,
} from '../../contract/index.ts'
import { writeProvenance } from '../formats/provenance.ts'
import { ORIGIN } from '../formats/testing.ts'

type Operation = 'load' | 'unload' | 'adapters' | 'pause' | 'resume' | 'health' | 'score' | 'chat' | 'model'

const MODEL: EngineModel = { name: 'scripted', vocabulary: 256, contextTokens: 64, digest: null, shape: null }
const PROBE_TOKENS = [1, 2, 3, 4, 5]
/** Generated before a generation may be held, and after it. */
const TOKENS_PER_HALF = 2

interface Underway {
  adapter: string | null
  readonly broken: PromiseWithResolvers<'aborted'>
  readonly spans: AdapterSpan[]
  tokens: number
}

export class ScriptedEngine implements Engine {
  readonly capacity: number
  readonly moves: boolean
  /** By name: what the adapter adds to every log-probability. */
  readonly held = new Map<string, number>()
  /** In the order of the calls: `load a`, `unload a`, `pause`. */
  readonly calls: string[] = []
  /** Calls that must never happen. */
  readonly violations: string[] = []
  readonly underway = new Set<Underway>()
  readonly faults = new Map<Operation, number>()
  isIgnoring = false
  isDown = false
  isPaused = false
  /** Loads end only when they are aborted. */
  isHanging = false
  onUnload: (name: string) => void = () => {}
  answers: (call: EngineChat) => ChatAnswer | null = () => null
  #midway: { readonly held: Promise<void>; readonly begin: () => void } | null = null

  constructor({ capacity = 2, moves = false }: { readonly capacity?: number; readonly moves?: boolean } = {}) {
    this.capacity = capacity
    this.moves = moves
  }

  get names(): readonly string[] {
    return [...this.held.keys()]
  }

  callsOf(operation: string): readonly string[] {
    return this.calls.filter((call) => call.startsWith(`${operation} `))
  }

  /** Starts a generation, and returns when it is halfway; it ends after `letGo`. */
  async midway<T>(start: () => Promise<T>): Promise<{ readonly answer: Promise<T>; readonly letGo: () => void }> {
    const hold = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    this.#midway = { held: hold.promise, begin: begun.resolve }
    const answer = start()
    await begun.promise
    this.#midway = null
    return { answer, letGo: hold.resolve }
  }

  /** As a new process: it holds nothing and is not paused. */
  restart(): void {
    this.held.clear()
    this.isPaused = false
    for (const { broken } of this.underway) broken.resolve('aborted')
  }

  #enter(operation: Operation): void {
    if (this.isDown) throw upstream('upstream_unreachable', 'no answer')
    const faults = this.faults.get(operation) ?? 0
    this.faults.set(operation, Math.max(0, faults - 1))
    if (faults > 0) throw new Error(`${operation} failed by order`)
  }

  async model(): Promise<EngineModel> {
    this.#enter('model')
    return MODEL
  }

  async load({ name, directory }: AdapterFolder, signal: AbortSignal): Promise<void> {
    this.calls.push(`load ${name}`)
    if (this.isHanging) await once(signal, 'abort')
    signal.throwIfAborted()
    if (this.held.has(name)) this.violations.push(`loaded twice: ${name}`)
    if (this.held.size >= this.capacity) this.violations.push(`loaded over capacity: ${name}`)
    const shift = Number(await readFile(join(directory, 'shift'), 'utf8'))
    if (Number.isNaN(shift)) throw conflict('not_an_adapter', 'the folder holds no adapter of this base')
    this.#enter('load')
    this.held.set(name, shift)
  }

  async unload(name: string): Promise<void> {
    this.calls.push(`unload ${name}`)
    this.onUnload(name)
    this.#enter('unload')
    if ([...this.underway].some(({ adapter }) => adapter === name)) this.violations.push(`unloaded under a generation: ${name}`)
    this.held.delete(name)
  }

  async adapters(): Promise<readonly string[]> {
    this.#enter('adapters')
    return this.names
  }

  move(from: string | null, to: string | null): void {
    this.calls.push(`move ${from} ${to}`)
    for (const one of this.underway) if (one.adapter === from) turnTo(one, to)
  }

  async pause(): Promise<void> {
    this.calls.push('pause')
    this.#enter('pause')
    this.isPaused = true
    for (const { broken } of this.underway) broken.resolve('aborted')
  }

  async resume(): Promise<void> {
    this.#enter('resume')
    this.isPaused = false
  }

  async health(): Promise<void> {
    this.#enter('health')
  }

  generate(): Promise<Generation> {
    throw unknown('not_scripted', 'no test asks it by ids')
  }

  async score(tokens: readonly number[], adapter: string | null): Promise<readonly number[]> {
    this.#enter('score')
    const shift = this.isIgnoring ? 0 : this.#shiftOf(adapter)
    return tokens.slice(1).map((token) => baseLogProb(token) + shift)
  }

  #shiftOf(adapter: string | null): number {
    const shift = adapter === null ? 0 : this.held.get(adapter)
    if (shift === undefined) throw unknown('adapter_lost', 'the engine holds no such adapter')
    return shift
  }

  async chat(call: EngineChat): Promise<ChatAnswer> {
    this.#enter('chat')
    this.#shiftOf(call.adapter)
    if (this.isPaused) return { kind: 'aborted' }
    return this.answers(call) ?? this.#generate(call)
  }

  async #generate({ adapter }: EngineChat): Promise<ChatAnswer> {
    const one: Underway = { adapter, broken: Promise.withResolvers(), spans: [], tokens: TOKENS_PER_HALF }
    this.underway.add(one)
    const { held } = this.#midway ?? {}
    this.#midway?.begin()
    const ended = await Promise.race([one.broken.promise, held])
    this.underway.delete(one)
    if (ended === 'aborted') return { kind: 'aborted' }
    one.tokens += TOKENS_PER_HALF
    turnTo(one, null)
    const text = one.spans.map((span) => span.adapter ?? 'base').join(' then ')
    return answerOf(text, { spans: one.spans, tokens: one.tokens })
  }

  status(): JsonObject {
    return { engine: 'scripted' }
  }

  async close(): Promise<void> {
    this.calls.push('close')
  }
}

/** Ends the span so far, when it has a token. */
function turnTo(one: Underway, adapter: string | null): void {
  const start = one.spans.at(-1)?.end ?? 0
  if (one.tokens > start) one.spans.push({ start, end: one.tokens, adapter: one.adapter })
  one.adapter = adapter
}

const baseLogProb = (token: number): number => -1 - (token % 7) / 10

/** An answer of so many tokens, as an engine gives it. */
export function answerOf(
  content: string,
  { spans, tokens }: { readonly spans: readonly AdapterSpan[]; readonly tokens: number },
  more: JsonObject = {},
  end: JsonObject = {},
): ChatAnswer {
  const finish_reason = more['tool_calls'] === undefined ? 'stop' : 'tool_calls'
  const choice = { index: 0, message: { role: 'assistant', content, ...more }, finish_reason, ...end }
  const ids = Array.from({ length: tokens }, (_, at) => at + 10)
  return {
    kind: 'answer',
    answer: { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'scripted', choices: [choice] },
    capture: { prompt: [7, 8, 9], tokens: ids, logProbs: ids.map(() => -0.5), spans },
  }
}

/** A folder with an adapter that adds `shift`, and says so in its provenance; null leaves the provenance out. */
export async function adapterFolder(parent: string, shift: number, trained: number | null = shift): Promise<string> {
  const directory = await mkdtemp(join(parent, 'adapter-'))
  await writeFile(join(directory, 'shift'), String(shift))
  if (trained === null) return directory
  const log_probs = PROBE_TOKENS.slice(1).map((token) => baseLogProb(token) + trained)
  await writeProvenance(directory, { ...ORIGIN, base_model: MODEL.name, probe: { tokens: PROBE_TOKENS, log_probs } })
  return directory
}
