/** SkyRL's own server of the same calls, as the trainer of a service: real groups, real steps, and what they made is served. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { z } from 'zod'
import { freePort } from '../support/listen.ts'
import { until } from '../support/wait.ts'
import { UV } from '../weights/real/install.ts'
import { makeTinyModel } from '../weights/support/tiny-model.ts'
import { openTrainingWorldWith, playGroup, rowAt, seedsFrom } from '../weights/support/training-world.ts'

const ROUNDS = 2
const GROUP = 8

const row = z.object({
  artifact_ref: z.string(),
  metrics: z.object({ selected: z.literal(true), optimizer_steps: z.literal(1), loss: z.number() }),
})

const score = (texts: readonly string[], index: number): number => (texts[index] === 'blue' ? 1 : 0) + index / 1000

/** What each step came to. Throws where one of them was not trained, published and served. */
export async function loopOnSkyrl(python: string): Promise<readonly string[]> {
  const model = await makeTinyModel()
  const training = await openTrainingWorldWith(() => startSkyrl(python, model), {
    // It calls the model what it was started with.
    'training.base_model': model,
    'training.group_size': GROUP,
  })
  try {
    const steps: string[] = []
    for (let round = 1; round <= ROUNDS; round += 1) {
      await playGroup(training.world, 'colours', `group-${round}`, { seeds: seedsFrom(round * 1000, GROUP), score })
      const { metrics } = row.parse(await rowAt(training.world, 'colours', round))
      steps.push(`step ${round}: loss ${metrics.loss.toFixed(3)}`)
    }
    return steps
  } finally {
    await training.close()
  }
}

async function startSkyrl(python: string, model: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-skyrl-'))
  const port = await freePort()
  const environment = dirname(dirname(python))
  const env = { ...process.env, PATH: [dirname(UV), process.env['PATH']].join(delimiter), VIRTUAL_ENV: environment, JAX_PLATFORMS: 'cpu' }
  const args = ['run', '--no-project', '--active', '-m', 'skyrl.tinker.api', '--host', '127.0.0.1', '--port', String(port)]
  const limits = JSON.stringify({ max_lora_adapters: 4, max_lora_rank: 8 })
  const kept = ['--checkpoints-base', join(folder, 'checkpoints'), '--database-url', `sqlite:///${join(folder, 'calls.db')}`]
  // Its second process is started by the same uv, which it finds by its parent's command line.
  const child = spawn(UV, [...args, '--base-model', model, '--backend', 'jax', '--backend-config', limits, ...kept], {
    env: { ...env, HF_HUB_OFFLINE: '1', PYTHONDONTWRITEBYTECODE: '' },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaints = ''
  child.stderr.on('data', (part: Buffer) => (complaints = (complaints + part.toString()).slice(-2000)))
  const killAll = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  process.once('exit', killAll)
  const ended = once(child, 'close').finally(() => process.off('exit', killAll))
  const url = `http://127.0.0.1:${port}`
  const ready = until(async () => (await fetch(`${url}/api/v1/healthz`).catch(() => null))?.ok === true)
  await Promise.race([ready, ended.then(() => Promise.reject(new Error(`it did not start: ${complaints}`)))])
  return {
    url,
    async stop() {
      killAll()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
