/** A trainer for tests: it holds to the calls, learns nothing of any use, keeps count of every optimizer step, and fails when it is told to. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { canonicalJson, isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { writeSafetensors } from '../formats/safetensors.ts'
import { samplerPath, statePath } from './tinker.ts'

/** What becomes of one request. */
export type Fault =
  /** The connection breaks, before or after the call took effect. */
  | 'lost before'
  | 'lost after'
  /** The trainer is killed and started again: what it saved is there, everything else is gone. */
  | 'killed before'
  | 'killed after'
  | { readonly status: number; readonly body?: string }
  /** It answers something else than it should. */
  | { readonly mangle: (answer: Json) => unknown }

/** Asked with every request: what is called, and how many came before it. */
type Faults = (call: string, at: number) => Fault | undefined
const noFault: Faults = () => undefined

interface Call {
  readonly name: string
  readonly body: JsonObject
  readonly headers: IncomingMessage['headers']
}

export interface FakeTrainer {
  readonly url: string
  /** In the order they came. */
  readonly calls: readonly Call[]
  /** Taken by anybody, whatever became of them. */
  readonly optimizerSteps: number
  /** How many steps lead to what is saved under a path, from the base on. */
  stepsOf(path: string): number
  /** How many models it holds in memory. */
  readonly models: number
  fault(faults: Faults): void
  /** Whether results are ready when they are first asked for; 'never': they are pending for ever. */
  pending(how: 'never' | 'once' | 'no'): void
  /** Which call fails from here on, by no fault of its caller; what it answered under a number then, it answers under it ever after. */
  failing(call: string | null): void
  /** What it keeps on its disk, by its names for it. */
  readonly saved: readonly string[]
  /** Where archives lie; null: here. */
  archivesAt(url: string | null): void
  archiveOf(path: string): Buffer | null
  close(): Promise<void>
}

interface Weights {
  readonly base: string
  readonly values: readonly number[]
  readonly steps: number
}
interface Model extends Weights {
  readonly gradient: number
  /** By its number: what was asked, and the ticket for the answer. */
  readonly asked: Map<number, { readonly content: string; readonly ticket: string }>
}
interface Reply {
  readonly status: number
  readonly body: Json | Buffer
  readonly location?: string
}

const PENDING: Reply = { status: 408, body: { detail: 'not yet' } }
const ROWS = 2
const COLUMNS = 2

export async function startFakeTrainer(): Promise<FakeTrainer> {
  const memory = new FakeMemory()
  const calls: Call[] = []
  let faults: Faults = noFault
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const text = Buffer.concat(parts).toString()
    const body: JsonObject = text === '' ? {} : JSON.parse(text)
    const name = decodeURIComponent((request.url ?? '').replace('/api/v1/', ''))
    const fault = faults(name.startsWith('training_runs') ? 'archive' : name, calls.length)
    calls.push({ name, body, headers: request.headers })
    if (fault === 'killed before') memory.die()
    if (fault === 'lost before' || fault === 'killed before') return void response.destroy()
    if (typeof fault === 'object' && 'status' in fault) return void response.writeHead(fault.status).end(fault.body)
    const reply = request.method === 'DELETE' ? memory.discard(name) : memory.answer(name, body)
    if (fault === 'killed after') memory.die()
    if (fault === 'lost after' || fault === 'killed after') return void response.destroy()
    send(response, typeof fault === 'object' ? mangled(reply, fault.mangle) : reply)
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the trainer of this test has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls,
    get optimizerSteps() {
      return memory.optimizerSteps
    },
    get models() {
      return memory.models.size
    },
    stepsOf: (path) => memory.saved.get(path)?.steps ?? 0,
    fault: (next) => {
      faults = next
    },
    pending: (how) => {
      memory.pending = how
    },
    failing: (call) => {
      memory.failing = call
    },
    get saved() {
      return [...memory.saved.keys()]
    },
    archivesAt: (url) => {
      memory.archivesAt = url
    },
    archiveOf: (path) => memory.archiveOf(path),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function send(response: ServerResponse, { status, body, location }: Reply): void {
  const headers = location === undefined ? {} : { location }
  response.writeHead(status, headers).end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
}

/** A text is sent as it is: JSON has no word for what is not finite. */
function mangled({ status, body }: Reply, mangle: (answer: Json) => unknown): Reply {
  const answer = mangle(Buffer.isBuffer(body) ? body.toString('base64') : body)
  return { status, body: Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)) }
}

class FakeMemory {
  readonly models = new Map<string, Model>()
  readonly saved = new Map<string, Weights>()
  optimizerSteps = 0
  pending: 'never' | 'once' | 'no' = 'no'
  failing: string | null = null
  archivesAt: string | null = null
  #results = new Map<string, { readonly result: Json; looks: number }>()
  #sessions = new Set<string>()
  #born = 0

  die(): void {
    this.models.clear()
    this.#results = new Map()
    this.#sessions = new Set()
  }

  answer(call: string, body: JsonObject): Reply {
    if (call.startsWith('training_runs/')) return this.#archive(call)
    if (call === 'create_session') return this.#createSession()
    if (call === 'session_heartbeat') return { status: 200, body: {} }
    if (call === 'create_model') return this.#createModel(body)
    if (call === 'retrieve_future') return this.#retrieve(wordIn(body, 'request_id'))
    if (call === 'weights_info')
      return this.saved.has(wordIn(body, 'tinker_path')) ? { status: 200, body: { is_lora: true } } : gone('weights')
    return this.#work(call, body)
  }

  discard(call: string): Reply {
    const [, model = '', , kind = '', name = ''] = call.split('/')
    return this.saved.delete(`tinker://${model}/${kind}/${name}`) ? { status: 200, body: {} } : gone('checkpoint')
  }

  archiveOf(path: string): Buffer | null {
    const weights = this.saved.get(path)
    return weights === undefined ? null : tarOf(filesOf(weights))
  }

  #createSession(): Reply {
    const session_id = `session-${(this.#born += 1)}`
    this.#sessions.add(session_id)
    return { status: 200, body: { session_id } }
  }

  #createModel(body: JsonObject): Reply {
    const session = wordIn(body, 'session_id')
    if (!this.#sessions.has(session)) return gone('session')
    const model_id = `model-of-${session}`
    if (!this.models.has(model_id))
      this.models.set(model_id, { base: wordIn(body, 'base_model'), values: [0, 0, 0, 0], steps: 0, gradient: 0, asked: new Map() })
    return this.#ticket(model_id, `create ${model_id}`, { model_id, type: 'create_model' })
  }

  #retrieve(ticket: string): Reply {
    const kept = this.#results.get(ticket)
    if (kept === undefined) return gone('request')
    kept.looks += 1
    if (this.pending === 'never') return PENDING
    if (this.pending === 'once' && kept.looks === 1) return { status: 200, body: { type: 'try_again' } }
    if (this.pending === 'once' && kept.looks === 2) return PENDING
    return { status: 200, body: kept.result }
  }

  #work(call: string, body: JsonObject): Reply {
    const model_id = wordIn(body, 'model_id')
    const model = this.models.get(model_id)
    if (model === undefined) return gone('model')
    const number = body['seq_id']
    const content = `${call} ${canonicalJson(body)}`
    const before = typeof number === 'number' ? model.asked.get(number) : undefined
    if (before !== undefined && before.content !== content) return { status: 409, body: { detail: 'another call had this number' } }
    if (before !== undefined) return { status: 200, body: { request_id: before.ticket, model_id } }
    const ticket = `${content} of ${model_id}`
    const result = call === this.failing ? { error: 'disk full', category: 'server' } : this.#apply(call, model_id, model, body)
    if (typeof number === 'number') model.asked.set(number, { content, ticket })
    return this.#ticket(model_id, ticket, result)
  }

  #apply(call: string, id: string, model: Model, body: JsonObject): Json {
    const path = wordIn(body, 'path')
    const set = (change: Partial<Model>): void => void this.models.set(id, { ...model, ...change })
    const { base, values, steps } = model
    if (call === 'unload_model') this.models.delete(id)
    if (call === 'save_weights') return this.#keep(statePath(id, path), { base, values, steps })
    if (call === 'save_weights_for_sampler') return this.#keep(samplerPath(id, path), { base, values, steps })
    if (call === 'load_weights') {
      const from = this.saved.get(path)
      if (from === undefined) return { error: 'no such weights', category: 'user' }
      set({ ...from })
    }
    if (call === 'forward' || call === 'forward_backward') {
      const data = dataIn(body[`${call}_input`])
      if (call === 'forward_backward') set({ gradient: model.gradient + gradientOf(data) })
      const loss_fn_outputs = data.map(({ targets }) => ({ logprobs: { data: targets.map((target) => logProb(values, target)) } }))
      return { loss_fn_output_type: 'x', loss_fn_outputs, metrics: { 'loss:sum': gradientOf(data) } }
    }
    if (call === 'optim_step') {
      const rate = isObject(body['adam_params']) ? Number(body['adam_params']['learning_rate']) : 0
      this.optimizerSteps += 1
      set({ values: values.map((value, at) => value + rate * model.gradient * (at + 1)), steps: steps + 1, gradient: 0 })
      return { metrics: { grad_norm: Math.abs(model.gradient) } }
    }
    return { type: call }
  }

  #keep(path: string, weights: Weights): Json {
    this.saved.set(path, weights)
    return { path }
  }

  #ticket(model_id: string, request_id: string, result: Json): Reply {
    this.#results.set(request_id, { result, looks: 0 })
    return { status: 200, body: { request_id, model_id } }
  }

  #archive(call: string): Reply {
    const [, model = '', , , name = ''] = call.split('/')
    const path = samplerPath(model, name)
    const archive = this.archiveOf(path)
    if (archive === null) return gone('checkpoint')
    return this.archivesAt === null ? { status: 200, body: archive } : { status: 302, body: '', location: `${this.archivesAt}/${call}` }
  }
}

/** Empty when there is none. */
export const wordIn = (body: JsonObject | undefined, key: string): string => {
  const value = body?.[key]
  return typeof value === 'string' ? value : ''
}

const gone = (what: string): Reply => ({ status: 404, body: { detail: `no such ${what}` } })

interface Question {
  readonly targets: readonly number[]
  readonly weights: readonly number[]
}

function dataIn(input: Json | undefined): readonly Question[] {
  const { data } = isObject(input) ? input : {}
  if (!Array.isArray(data)) return []
  return data.map((datum: Json) => {
    const inputs = isObject(datum) && isObject(datum['loss_fn_inputs']) ? datum['loss_fn_inputs'] : {}
    return { targets: arrayIn(inputs['target_tokens']), weights: arrayIn(inputs['advantages'] ?? inputs['weights']) }
  })
}

function arrayIn(tensor: Json | undefined): readonly number[] {
  const data = isObject(tensor) ? tensor['data'] : []
  return Array.isArray(data) ? data.map(Number) : []
}

const gradientOf = (data: readonly Question[]): number =>
  data.reduce((sum, { targets, weights }) => sum + targets.reduce((own, target, at) => own + target * (weights[at] ?? 0), 0), 0)

const logProb = ([first = 0]: readonly number[], target: number): number => -1 / (1 + target) - Math.abs(first) / 1000

function filesOf({ base, values }: Weights): Readonly<Record<string, Buffer>> {
  const config = { peft_type: 'LORA', base_model_name_or_path: base, r: ROWS, lora_alpha: 2, target_modules: ['q_proj'] }
  const tensor = (numbers: readonly number[]) =>
    ({ dtype: 'F32', shape: [ROWS, COLUMNS], bytes: new Uint8Array(Float32Array.from(numbers).buffer) }) as const
  const module = 'base_model.model.model.layers.0.self_attn.q_proj'
  const tensors = new Map([
    [`${module}.lora_A.weight`, tensor([1, 2, 3, 4])],
    [`${module}.lora_B.weight`, tensor(values)],
  ])
  return { 'adapter_config.json': Buffer.from(JSON.stringify(config)), 'adapter_model.safetensors': writeSafetensors(tensors) }
}

const BLOCK_BYTES = 512

function tarOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(files).flatMap(([name, bytes]) => [
    tarHeader(name, bytes.length),
    bytes,
    Buffer.alloc(-bytes.length & (BLOCK_BYTES - 1)),
  ])
  return Buffer.concat([...entries, Buffer.alloc(2 * BLOCK_BYTES)])
}

function tarHeader(name: string, bytes: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES)
  header.write(name)
  header.write('0000644\0', 100)
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124)
  header.write('        0', 148)
  header.write('ustar\0', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
