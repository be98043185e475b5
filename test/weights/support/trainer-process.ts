/** The trainer as a process, like `svc trainer start`, for tests that call and kill it. */
import { once } from 'node:events'
import { spawnTrainer } from '../../../src/cli/trainer/python.ts'
import { pythonWithTorch } from './torch.ts'

export interface TrainerOptions {
  /** Its folder; a second process in the same folder continues the first. */
  readonly state: string
  /** Base models: the folder by the name. */
  readonly models: Readonly<Record<string, string>>
  readonly apiKey?: string
  readonly device?: 'cpu' | 'cuda'
  /** Default: any free port. */
  readonly port?: number
}

export type TrainerProcess = Awaited<ReturnType<typeof startTrainer>>

const KEY_VARIABLE = 'SVC_TEST_TRAINER_KEY'

/** Resolves when ready. Single-threaded, so that sums are reproducible. Ends with the test's process. */
export async function startTrainer({ state, models, apiKey, port = 0, device = 'cpu' }: TrainerOptions) {
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
    /** SIGKILL; resolves when it is gone. */
    kill9: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
