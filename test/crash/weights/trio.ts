/** The three processes of a weight scenario, each of which can be killed and started again where it was. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createServer } from 'node:net'
import type { Settings } from '../../support/settings.ts'
import { QUICKLY } from '../../weights/support/training-world.ts'
import { startTrainer, type TrainerProcess } from '../../weights/support/trainer-process.ts'
import { placeIn, startChild, type Child, type Place } from '../child.ts'
import { HOLD_AT, POINTS, type Point } from './points.ts'

const LEAST = 20_000
const MOST = 29_999

/** Runs beside each other begin at different ones. */
let next = LEAST + (process.pid % (MOST - LEAST))

export const VICTIMS = ['service', 'trainer', 'engine'] as const
export type Victim = (typeof VICTIMS)[number]

export const GROUP_SIZE = 8
export const BASE = 'tiny'

const SERVICE = fileURLToPath(new URL('service.ts', import.meta.url))
const ENGINE = fileURLToPath(new URL('../../weights/engines/run.ts', import.meta.url))
const ENGINE_POINTS = fileURLToPath(new URL('engine.ts', import.meta.url))

interface Killable {
  kill(): Promise<void>
}

export class Trio {
  readonly place: Place
  readonly #directory: string
  readonly #model: string
  readonly #ports: Readonly<Record<'trainer' | 'engine', number>>
  readonly #running: Partial<Record<Victim, Killable>> = {}
  #service: Child | null = null
  #address = ''
  #onPoint: (point: Point) => void = () => undefined

  private constructor(directory: string, model: string, ports: Readonly<Record<'trainer' | 'engine', number>>) {
    this.place = placeIn(join(directory, 'data'))
    this.#directory = directory
    this.#model = model
    this.#ports = ports
  }

  /** Over a copy of what an earlier one left, where one is named. All three are ready when this resolves. */
  static async open(directory: string, model: string, earlier: string | null): Promise<Trio> {
    if (earlier === null) mkdirSync(join(directory, 'data'), { recursive: true })
    else cpSync(earlier, directory, { recursive: true })
    mkdirSync(join(directory, 'temporary'), { recursive: true })
    const trio = new Trio(directory, model, { trainer: await ownPort(), engine: await ownPort() })
    try {
      // One that fails must not leave the other behind.
      const begun = await Promise.allSettled([trio.start('trainer'), trio.start('engine')])
      for (const one of begun) if (one.status === 'rejected') throw one.reason
      await trio.start('service')
      return trio
    } catch (error) {
      await trio.end()
      throw error
    }
  }

  /** Of the service that runs now. */
  get address(): string {
    return this.#address
  }

  get engineUrl(): string {
    return `http://127.0.0.1:${this.#ports.engine}`
  }

  get trainerState(): string {
    return join(this.#directory, 'trainer')
  }

  onPoint(listen: (point: Point) => void): void {
    this.#onPoint = listen
  }

  /** A process that reaches that point waits there until it is let go on. */
  holdAt(point: Point): void {
    writeFileSync(this.#order, point)
  }

  letGoOn(): void {
    rmSync(this.#order, { force: true })
  }

  get #order(): string {
    return join(this.#directory, 'hold-at')
  }

  async start(who: Victim): Promise<void> {
    this.#running[who] = await { service: () => this.#serve(), trainer: () => this.#train(), engine: () => this.#generate() }[who]()
  }

  async kill(who: Victim): Promise<void> {
    await this.#running[who]?.kill()
  }

  /** The service is asked to stop; its exit code is the answer. The others have nothing to finish. */
  async stop(): Promise<number | null> {
    this.#service?.stop()
    const code = (await this.#service?.ended) ?? null
    await this.end()
    return code
  }

  async end(): Promise<void> {
    this.letGoOn()
    await Promise.all(VICTIMS.map((who) => this.kill(who)))
  }

  #heard(line: string): void {
    const point = POINTS.find((one) => one === line)
    if (point !== undefined) this.#onPoint(point)
  }

  async #serve(): Promise<Killable> {
    const child = startChild(this.place, {
      settings: this.#settings(),
      entry: SERVICE,
      environment: { [HOLD_AT]: this.#order },
      onSaid: (line) => this.#heard(line),
    })
    this.#service = child
    const address = await child.address
    if (address === null) throw new Error('the service did not start; its log is beside its data')
    this.#address = address
    return {
      kill: async () => {
        child.kill('service')
        await child.ended
      },
    }
  }

  #settings(): Settings {
    return {
      ...QUICKLY,
      'svc.port': 0,
      'storage.agent_record_dir': this.place.records,
      'storage.artifact_repository': this.place.repository,
      'inference.runtime': 'sglang',
      'inference.engine.url': this.engineUrl,
      // The same in every life, so that the names in the engine can be compared.
      'inference.engine.adapter_prefix': 'trio',
      'training.trainer_url': `http://127.0.0.1:${this.#ports.trainer}`,
      'training.group_size': GROUP_SIZE,
    }
  }

  async #train(): Promise<Killable> {
    const trainer: TrainerProcess = await startTrainer({
      state: this.trainerState,
      models: { [BASE]: this.#model },
      port: this.#ports.trainer,
    })
    return { kill: () => trainer.kill9() }
  }

  async #generate(): Promise<Killable> {
    const args = ['--import', ENGINE_POINTS, ENGINE, 'sglang', '--port', `${this.#ports.engine}`, '--gguf', join(this.#model, 'model.gguf')]
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, [HOLD_AT]: this.#order, TMPDIR: join(this.#directory, 'temporary') },
    })
    const kill = (): void => void child.kill('SIGKILL')
    process.once('exit', kill)
    const ended = once(child, 'close').finally(() => process.off('exit', kill))
    const { promise: ready, resolve } = Promise.withResolvers<void>()
    createInterface(child.stdout).on('line', (line) => (line.startsWith('http') ? resolve() : this.#heard(line)))
    await Promise.race([ready, ended.then(() => Promise.reject(new Error('the engine did not start')))])
    return {
      kill: async () => {
        kill()
        await ended
      },
    }
  }
}

/** A port that nothing listens on, and that was not given before. */
async function ownPort(): Promise<number> {
  const port = next
  next = port >= MOST ? LEAST : port + 1
  return (await isFree(port)) ? port : ownPort()
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
