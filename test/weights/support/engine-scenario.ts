/** One scenario on the in-process engine without HTTP: fast enough for thousands of weight updates under load. */
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { z } from 'zod'
import { openLlamaEngine } from '../../../plugins/runtimes/llama/engine.ts'
import type { Capture, NewRecord, Release, Runtime, RuntimeAnswer, WeightRuntime } from '../../../src/contract/index.ts'
import { serve, serveStream, type Call } from '../../../src/inference/index.ts'
import { makeWeightRuntime } from '../../../src/weights/index.ts'
import { makeFence } from '../../../src/weights/serving/fence.ts'
import type { Random } from '../../crash/random.ts'
import { randomAdapter, randomModel } from './llama.ts'
import { callOf } from './weight-scenario.ts'

/** An accepted exchange, with the weights that made it. */
export interface Accepted {
  /** The number of its release. */
  readonly frozen: number
  /** The release served when it was accepted. */
  readonly newest: number
  /** The number of tokens that the client was billed. */
  readonly generated: number
  readonly training: z.infer<typeof training>
}

export type EngineScenario = Awaited<ReturnType<typeof openEngineScenario>>

export const SCENARIO = 'unresting'
export const INCARNATION = 'ab12'
export const ADAPTERS = 3
export const BASE = -1
const NEVER = new AbortController().signal
/** One in this many publications is the base. */
const BASE_EVERY = 9
const CAPACITY = 4

type Report = (capture: Capture) => Capture | undefined

/** `report` may change the engine's token report. */
export async function openEngineScenario(folder: string, report: Report) {
  const settings = {
    model: await randomModel(folder),
    capacity: CAPACITY,
    parallel: 4,
    contextTokens: null,
    threads: 1,
    gpu: 'off',
  } as const
  const folders = await Promise.all(
    Array.from({ length: ADAPTERS }, (_, at) => randomAdapter(join(folder, `adapter-${at}`), { seed: 11 + at })),
  )
  const judge = await openLlamaEngine(settings)
  for (const [at, directory] of folders.entries()) await judge.load({ name: `judge-${at}`, directory }, NEVER)
  const engine = makeWeightRuntime(await openLlamaEngine(settings), { name: 'llama', modelName: 'random' })
  const opened = new Busy(engine, folders, report)
  await opened.publish(0)
  return {
    accepted: opened.accepted,
    publications: opened.publications,
    ask: (random: Random) => opened.ask(random),
    update: (random: Random) => opened.update(random),
    /** Scores tokens in a separate engine. */
    score: (tokens: readonly number[], adapter: number) => judge.score(tokens, adapter === BASE ? null : `judge-${adapter}`, NEVER),
    close: async () => {
      await engine.close()
      await judge.close()
    },
  }
}

class Busy {
  readonly accepted: Accepted[] = []
  /** The adapter of each publication; -1 is the base. */
  readonly publications: number[] = []
  readonly #folders: readonly string[]
  readonly #weights: WeightRuntime
  readonly #scenario: Parameters<typeof serve>[0]
  readonly #calls = new EventEmitter()
  #head: Release = releaseOf(0)

  constructor(engine: Runtime, folders: readonly string[], report: Report) {
    const { weights } = engine
    if (weights === undefined) throw new Error('this runtime serves no weights')
    this.#weights = weights
    this.#folders = folders
    this.#scenario = {
      runtime: { ...engine, infer: (call) => this.#during(() => engine.infer(call), report) },
      surface: { hooks: makeFence(weights, SCENARIO) },
      model: { url: '', model: null, api: 'openai', apiKey: null },
      head: () => this.#head,
      hasRelease: () => false,
      keep: (record) => Promise.resolve(this.accepted.push(acceptedOf(record, this.publications.length - 1))),
    }
  }

  async #during(infer: () => Promise<RuntimeAnswer>, report: Report): Promise<RuntimeAnswer> {
    this.#calls.emit('begins')
    try {
      return changed(await infer(), report)
    } finally {
      this.#calls.emit('ends')
    }
  }

  /** One request in a random shape. Rejects with the refusal. */
  async ask(random: Random): Promise<void> {
    const call = randomCall(random)
    const served = await serve(this.#scenario, call)
    if (served.kind === 'stream') await serveStream(served, { write() {}, end() {}, cut() {} }, false)
  }

  /** Publishes other weights, now or when the next request begins or ends. */
  async update(random: Random): Promise<void> {
    const moment = random.pick(['now', 'now', 'begins', 'ends'])
    if (moment !== 'now') await once(this.#calls, moment)
    for (let turns = random.between(0, 5); turns > 0; turns -= 1) await turn()
    const next = this.publications.length
    await this.publish(random.between(1, BASE_EVERY) === 1 ? BASE : next % ADAPTERS)
  }

  /** Like the service: the engine loads first, then the head moves. */
  async publish(adapter: number): Promise<void> {
    const sequence = this.publications.length
    this.publications.push(adapter)
    const directory = this.#folders[adapter] ?? null
    await this.#weights.serve(SCENARIO, { runtime_load_id: `${INCARNATION}:${sequence}`, directory })
    this.#head = releaseOf(sequence)
  }
}

const releaseOf = (sequence: number): Release => ({
  release_id: `live:${INCARNATION}:${sequence}:${sequence}`,
  parent_release_id: null,
  content_id: `weights:${INCARNATION}:${sequence}`,
})

/** A stream always has a token report, possibly empty. */
function changed(answer: RuntimeAnswer, report: Report): RuntimeAnswer {
  if (answer.kind === 'whole' && answer.capture !== undefined) {
    const { capture, ...rest } = answer
    const said = report(capture)
    return said === undefined ? rest : { ...rest, capture: said }
  }
  if (answer.kind !== 'stream' || answer.whole === undefined) return answer
  const { capture, ...rest } = answer.whole
  return { ...answer, whole: { ...rest, capture: report(capture) ?? { ...capture, spans: [] } } }
}

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const

function randomCall(random: Random): Call {
  const dialect = random.pick<'chat' | 'messages'>(['chat', 'messages'])
  const stream = random.pick([true, false])
  const fields = {
    model: 'random',
    messages: [{ role: 'user', content: `say ${random.between(0, 999)}` }],
    max_tokens: random.between(8, 32),
    temperature: 1,
    stream,
    ...(dialect === 'chat' && { seed: random.between(0, 1_000_000), ...(stream && { stream_options: { include_usage: true } }) }),
  }
  return callOf(fields, { id: `r${random.between(0, 2 ** 30)}`, dialect, path: PATHS[dialect] })
}

const training = z.object({
  tokens: z.array(z.number()),
  loss_mask: z.array(z.number()),
  rollout_log_probs: z.array(z.number()),
  runtime_load_id: z.string().nullable(),
  runtime_load_spans: z.array(z.object({ start: z.number(), end: z.number(), runtime_load_id: z.string() })),
})
const usage = z.union([
  z.object({ completion_tokens: z.number() }).transform(({ completion_tokens }) => completion_tokens),
  z.object({ output_tokens: z.number() }).transform(({ output_tokens }) => output_tokens),
])
const payload = z.object({ response: z.object({ usage, training }) })

function acceptedOf(record: NewRecord, newest: number): Accepted {
  const { response } = payload.parse(JSON.parse(Buffer.from(record.payload).toString()))
  const frozen = Number(String(record.artifact_ref).split(':')[2])
  return { frozen, newest, generated: response.usage, training: response.training }
}
