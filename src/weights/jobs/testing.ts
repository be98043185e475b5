/** A trainer for tests: it answers every call, learns nothing useful, counts its optimizer steps, and fails on request. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer as readBytes } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { canonicalJson, type Json, type JsonObject, type Reporter } from '../../contract/index.ts'
import { listOf, objectOf, objectsOf, textOf } from '../../dialects/index.ts'
import { adapterFiles, floats, half, tarOfFiles } from '../formats/testing.ts'
import { PROTOBUF } from './messages.ts'
import { passIn, passOut } from './testing-messages.ts'
import { makeTrainerClient, samplerPath, statePath, type TrainerClient } from './tinker.ts'

export const LORA = { rank: 2, seed: 1, train_attn: true, train_mlp: true, train_unembed: false }
export const ADAM = { learning_rate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0, grad_clip_norm: 0 }
export const SILENT: Reporter = { phase: () => undefined, line: () => undefined }
export const KEY = 'tml-the-trainers-key'

export type Fault =
  /** The connection breaks, before or after the call took effect. */
  | 'lost before'
  | 'lost after'
  /** The trainer is killed and restarted: it keeps what it saved and loses everything else. */
  | 'killed before'
  | 'killed after'
  | { readonly status: number; readonly body?: string }
  | { readonly mangle: (answer: Json) => unknown }

interface Weights {
  readonly base: string
  readonly values: readonly number[]
  readonly steps: number
}
interface Model extends Weights {
  readonly gradient: number
  /** By its number: the content of a call, and the ticket for its result. */
  readonly asked: Map<number, { readonly content: string; readonly ticket: string }>
}
interface Reply {
  readonly status: number
  readonly body: Json | Buffer
  readonly location?: string
}

const PENDING: Reply = { status: 408, body: { detail: 'not yet' } }
const SHAPE = [2, 2]

export async function startFakeTrainer(): Promise<FakeTrainer> {
  const trainer = new FakeTrainer()
  trainer.url = await startServer((request, response) => void trainer.handle(request, response).catch(() => response.destroy()))
  return trainer
}

/** The address of a server that runs until the test ends. */
export async function startServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server of this test has no port')
  return `http://127.0.0.1:${address.port}`
}

export function clientOf(url: string, timeoutSeconds = 30): TrainerClient {
  const client = makeTrainerClient({ url, apiKey: KEY, timeoutSeconds })
  onTestFinished(() => client.close())
  return client
}

export class FakeTrainer {
  url = ''
  readonly calls: { readonly name: string; readonly body: JsonObject; readonly headers: IncomingMessage['headers'] }[] = []
  readonly models = new Map<string, Model>()
  /** On disk, by path. */
  readonly saved = new Map<string, Weights>()
  /** Of all models, whatever became of them. */
  optimizerSteps = 0
  /** Called with the name of every request and the number of requests before it. */
  faults: (call: string, at: number) => Fault | undefined = () => undefined
  /** Whether a result is ready when it is first asked for; 'never': it stays pending. */
  pending: 'never' | 'once' | 'no' = 'no'
  /** The call that fails; the trainer repeats that failure for the number of the call for ever. */
  failing: string | null = null
  /** Where archives lie; null: here. */
  archivesAt: string | null = null
  /** Whether it leaves out and writes differently all that the API leaves open, as SkyRL's server does, and ignores the numbers of calls. */
  isLoose = false
  /** Whether it takes and answers passes in protocol buffers alone. */
  wantsMessages = false
  #results = new Map<string, { readonly result: Json; looks: number }>()
  #sessions = new Set<string>()
  #born = 0

  /** How many steps lead from the base to what is saved under a path. */
  stepsOf(path: string): number {
    return this.saved.get(path)?.steps ?? 0
  }

  archiveOf(path: string): Buffer | null {
    const weights = this.saved.get(path)
    return weights === undefined ? null : archiveOf(weights)
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await readBytes(request)
    const name = decodeURIComponent((request.url ?? '').replace('/api/v1/', ''))
    const isMessage = request.headers['content-type'] === PROTOBUF
    const body: JsonObject = sent.length === 0 ? {} : isMessage ? passIn(sent) : JSON.parse(sent.toString())
    const fault = this.faults(name.startsWith('training_runs') ? 'archive' : name, this.calls.length)
    this.calls.push({ name, body, headers: request.headers })
    if (fault === 'killed before') this.#die()
    if (fault === 'lost before' || fault === 'killed before') return void response.destroy()
    if (typeof fault === 'object' && 'status' in fault) return void response.writeHead(fault.status).end(fault.body)
    const isPass = name === 'forward' || name === 'forward_backward'
    if (this.wantsMessages && isPass && !isMessage) return void response.writeHead(415).end('{"detail": "protobuf alone"}')
    const reply = request.method === 'DELETE' ? this.#discard(name) : this.#answer(name, body)
    if (fault === 'killed after') this.#die()
    if (fault === 'lost after' || fault === 'killed after') return void response.destroy()
    const { body: answered } = reply
    const isPassed = !Buffer.isBuffer(answered) && 'loss_fn_outputs' in objectOf(answered)
    if (this.wantsMessages && isPassed && request.headers.accept === PROTOBUF)
      return void response.writeHead(200, { 'content-type': PROTOBUF }).end(passOut(objectOf(answered)))
    send(response, typeof fault === 'object' ? mangled(reply, fault.mangle) : reply)
  }

  #die(): void {
    this.models.clear()
    this.#results.clear()
    this.#sessions.clear()
  }

  #answer(call: string, body: JsonObject): Reply {
    if (call.startsWith('training_runs/')) return this.#archive(call)
    if (call === 'create_session') return this.#createSession()
    if (call === 'session_heartbeat') return { status: 200, body: {} }
    if (call === 'create_model') return this.#createModel(body)
    if (call === 'retrieve_future') return this.#retrieve(textOf(body['request_id']))
    if (this.isLoose && call.endsWith('/checkpoints')) return this.#list(call)
    if (this.isLoose && textOf(body['tinker_path']).includes('/sampler_weights/'))
      return { status: 400, body: { detail: 'no training state' } }
    if (call === 'weights_info')
      return this.saved.has(textOf(body['tinker_path'])) ? { status: 200, body: { is_lora: true } } : gone('weights')
    return this.#work(call, body)
  }

  #discard(call: string): Reply {
    const [, model = '', , kind = '', name = ''] = call.split('/')
    return this.saved.delete(`tinker://${model}/${kind}/${name}`) ? { status: 200, body: {} } : gone('checkpoint')
  }

  #createSession(): Reply {
    const session_id = `session-${(this.#born += 1)}`
    this.#sessions.add(session_id)
    return { status: 200, body: { session_id } }
  }

  #createModel(body: JsonObject): Reply {
    const session = textOf(body['session_id'])
    if (!this.#sessions.has(session)) return gone('session')
    const model_id = `model-of-${session}`
    if (!this.models.has(model_id))
      this.models.set(model_id, { base: textOf(body['base_model']), values: [0, 0, 0, 0], steps: 0, gradient: 0, asked: new Map() })
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
    const model_id = textOf(body['model_id'])
    const model = this.models.get(model_id)
    if (model === undefined) return gone('model')
    const number = body['seq_id']
    const content = `${call} ${canonicalJson(body)}`
    const before = typeof number === 'number' && !this.isLoose ? model.asked.get(number) : undefined
    if (before !== undefined && before.content !== content) return { status: 409, body: { detail: 'another call had this number' } }
    if (before !== undefined) return { status: 200, body: { request_id: before.ticket, model_id } }
    const ticket = this.isLoose ? `${(this.#born += 1)}` : `${content} of ${model_id}`
    const result = call === this.failing ? { error: 'disk full', category: 'server' } : this.#apply(call, model_id, model, body)
    if (typeof number === 'number') model.asked.set(number, { content, ticket })
    return this.#ticket(model_id, ticket, result)
  }

  #apply(call: string, id: string, model: Model, body: JsonObject): Json {
    const path = textOf(body['path'])
    const set = (change: Partial<Model>): void => void this.models.set(id, { ...model, ...change })
    const { base, values, steps } = model
    if (call === 'unload_model') this.models.delete(id)
    if (call === 'save_weights') return this.#keep(statePath(id, path), { base, values, steps })
    if (call === 'save_weights_for_sampler') {
      const kept = this.#keep(samplerPath(id, path), { base, values, steps })
      return this.isLoose ? { path: `tinker://${id}/${path}` } : kept
    }
    if (call === 'load_weights') {
      const from = this.saved.get(path)
      if (from === undefined) return { error: 'no such weights', category: 'user' }
      set({ ...from })
    }
    if (call === 'forward' || call === 'forward_backward') {
      const data = dataIn(body[`${call}_input`])
      if (call === 'forward_backward') set({ gradient: model.gradient + gradientOf(data) })
      const loss_fn_outputs = data.map(({ targets }) => ({ logprobs: { data: targets.map((target) => logProb(values, target)) } }))
      return { loss_fn_output_type: 'x', loss_fn_outputs, metrics: this.isLoose ? {} : { 'loss:sum': gradientOf(data) } }
    }
    if (call === 'optim_step') {
      const rate = Number(objectOf(body['adam_params'])['learning_rate'])
      this.optimizerSteps += 1
      set({ values: values.map((value, at) => value + rate * model.gradient * (at + 1)), steps: steps + 1, gradient: 0 })
      return { metrics: this.isLoose ? null : { grad_norm: Math.abs(model.gradient) } }
    }
    return { type: call }
  }

  #keep(path: string, weights: Weights): Json {
    this.saved.set(path, weights)
    return { path }
  }

  #ticket(model_id: string, request_id: string, result: Json): Reply {
    this.#results.set(request_id, { result, looks: 0 })
    return { status: 200, body: this.isLoose ? { request_id } : { request_id, model_id } }
  }

  #list(call: string): Reply {
    const [, model = ''] = call.split('/')
    const paths = [...this.saved.keys()].filter((path) => path.startsWith(`tinker://${model}/`))
    return { status: 200, body: { checkpoints: paths.map((tinker_path) => ({ tinker_path })) } }
  }

  #looseArchive(call: string): Reply {
    const [, model = '', , name = '', what = ''] = call.split('/')
    const weights = this.saved.get(samplerPath(model, name))
    if (weights === undefined) return gone('route')
    if (what === 'archive') return { status: 302, body: '', location: `${this.url}/api/v1/${call.replace(/archive$/, 'download')}` }
    return { status: 200, body: gzipSync(archiveOf(weights, null)) }
  }

  #archive(call: string): Reply {
    if (this.isLoose) return this.#looseArchive(call)
    const [, model = '', , , name = ''] = call.split('/')
    const archive = this.archiveOf(samplerPath(model, name))
    if (archive === null) return gone('checkpoint')
    return this.archivesAt === null ? { status: 200, body: archive } : { status: 302, body: '', location: `${this.archivesAt}/${call}` }
  }
}

function send(response: ServerResponse, { status, body, location }: Reply): void {
  const headers = location === undefined ? {} : { location }
  response.writeHead(status, headers).end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
}

/** A text is sent as it is, since JSON cannot express numbers that are not finite. */
function mangled({ status, body }: Reply, mangle: (answer: Json) => unknown): Reply {
  const answer = mangle(Buffer.isBuffer(body) ? body.toString('base64') : body)
  return { status, body: Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)) }
}

const gone = (what: string): Reply => ({ status: 404, body: { detail: `no such ${what}` } })

interface Question {
  readonly targets: readonly number[]
  readonly weights: readonly number[]
}

function dataIn(input: Json | undefined): readonly Question[] {
  return objectsOf(objectOf(input)['data']).map((datum) => {
    const { target_tokens, advantages, weights = advantages } = objectOf(datum['loss_fn_inputs'])
    return { targets: numbersIn(target_tokens), weights: numbersIn(weights) }
  })
}

const numbersIn = (tensor: Json | undefined): readonly number[] => listOf(objectOf(tensor)['data']).map(Number)

const gradientOf = (data: readonly Question[]): number =>
  data.reduce((sum, { targets, weights }) => sum + targets.reduce((own, target, at) => own + target * (weights[at] ?? 0), 0), 0)

const logProb = ([first = 0]: readonly number[], target: number): number => -1 / (1 + target) - Math.abs(first) / 1000

const archiveOf = ({ base, values }: Weights, targets: Json = ['q_proj']): Buffer =>
  tarOfFiles(
    adapterFiles({
      config: { base_model_name_or_path: base, r: 2, lora_alpha: 2, target_modules: targets },
      weights: new Map([
        [half('A'), floats(SHAPE, [1, 2, 3, 4])],
        [half('B'), floats(SHAPE, values)],
      ]),
    }),
  )
