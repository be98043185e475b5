/** The trainer as a process of its own, as `svc trainer start` runs it, for tests that call it and kill it. */
import { once } from 'node:events'
import { spawnTrainer } from '../../../src/cli/trainer/process.ts'
import { pythonWithTorch } from './torch.ts'

export interface TrainerOptions {
  /** Its folder: a second one over the same is the first one started again. */
  readonly state: string
  /** Base models: the folder by the name. */
  readonly models: Readonly<Record<string, string>>
  readonly apiKey?: string
  readonly device?: 'cpu' | 'cuda'
  /** Any free one unless told. */
  readonly port?: number
}

export interface TrainerProcess {
  readonly url: string
  readonly pid: number
  /** What it complained of so far. */
  readonly complaints: string
  /** At once, whatever it is doing; resolves when it is gone. */
  kill9(): Promise<void>
  stop(): Promise<void>
}

const KEY_VARIABLE = 'SVC_TEST_TRAINER_KEY'

/** Ready when this resolves. One thread: sums over more of them may differ in the last bit. It ends with the test's process at the latest. */
export async function startTrainer({ state, models, apiKey, port = 0, device = 'cpu' }: TrainerOptions): Promise<TrainerProcess> {
  const named = Object.entries(models).map(([name, folder]) => `--model=${name}=${folder}`)
  const keyed = apiKey === undefined ? [] : [`--api-key-env=${KEY_VARIABLE}`]
  const args = [`--state=${state}`, `--port=${port}`, `--device=${device}`, '--threads=1', ...named, ...keyed]
  const child = spawnTrainer(await pythonWithTorch(), args, { ...process.env, [KEY_VARIABLE]: apiKey })
  const gone = once(child, 'close')
  let said = ''
  let complaints = ''
  child.stderr.on('data', (part: Buffer) => (complaints += part.toString()))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (part: Buffer) => {
      said += part.toString()
      const ready = /ready at (\S+)/.exec(said)?.[1]
      if (ready !== undefined) resolve(ready)
    })
    gone.then(() => reject(new Error(`the trainer ended before it was ready: ${complaints}`)), reject)
  })
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await gone
  }
  return {
    url,
    pid: child.pid ?? 0,
    get complaints() {
      return complaints
    },
    kill9: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
