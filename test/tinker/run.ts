/** `npm run test:tinker`: the official SDK, oldest and newest, against the trainer that comes with the service, and the service on SkyRL's. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { makeTinyModel } from '../weights/support/tiny-model.ts'
import { begin } from '../needs/ready.ts'
import { installPackage, installUv, lastLine, PACKAGES, UV } from '../weights/real/install.ts'
import { completion, promptOf } from '../weights/support/rows.ts'
import { startTrainer } from '../weights/support/trainer-process.ts'
import { loopOnSkyrl } from './skyrl.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const LOOP = join(import.meta.dirname, 'loop.py')
const LOOP_SECONDS_MAX = 600
/** The oldest that is supported, and whatever is newest. */
const SDKS = { oldest: 'tinker==0.7.0', newest: 'tinker' }

const seen = z.object({
  version: z.string(),
  models: z.tuple([z.literal('tiny')]),
  losses: z.array(z.number()),
  rewards: z.array(z.number()),
  same: z.number().max(1e-4),
  moved: z.number().min(0.01),
  reloaded: z.number().max(1e-6),
  resumed: z.literal(true),
  run: z.tuple([z.literal('tiny'), z.literal(4), z.literal(true)]),
  checkpoints: z.tuple([z.literal('sampler_weights/adapter-1'), z.literal('weights/state-1')]),
  archive: z.number().min(1).nullable(),
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function install(name: string, wanted: string): Promise<string | null> {
  const folder = join(ROOT, 'node_modules', '.cache', 'tinker', name)
  const python = join(folder, 'bin', 'python3')
  say(`${wanted}: installing where it is not there yet …`)
  try {
    await installUv()
    if (!existsSync(python)) await run(UV, ['venv', '--quiet', '--python', 'python3', folder])
    await run(UV, ['pip', 'install', '--quiet', '--python', python, '--upgrade', wanted])
    say(`${wanted}: installed, asking the trainer …`)
    return python
  } catch (error) {
    say(`${wanted}: not run, since it could not be installed (${lastLine(error)})`)
    return null
  }
}

async function loop(python: string, url: string): Promise<void> {
  const args = [LOOP, 'tiny', JSON.stringify(promptOf('Pick a colour.')), JSON.stringify(completion('blue'))]
  const env = { ...process.env, TINKER_API_KEY: 'tml-any', TINKER_BASE_URL: url, HF_HUB_OFFLINE: '1' }
  const { stdout } = await run(python, args, { env, timeout: LOOP_SECONDS_MAX * 1000 })
  const found = seen.parse(JSON.parse(stdout))
  const [first = 0, ...more] = found.losses
  if ((more.at(-1) ?? first) >= first) throw new Error(`${found.version}: the loss did not fall: ${found.losses.join(' ')}`)
  if ((found.rewards.at(-1) ?? 0) <= (found.rewards[0] ?? 0))
    throw new Error(`${found.version}: the reward did not rise: ${found.rewards.join(' ')}`)
  const archive = found.archive === null ? 'it has no call for archives' : `archive of ${found.archive} bytes`
  say(`tinker ${found.version}: loss ${found.losses.join(' → ')}; reward ${found.rewards.join(' → ')}; ${archive}`)
}

const isAsked = (name: string): boolean => process.argv.length === 2 || process.argv.includes(name)

async function official(): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), 'svc-tinker-'))
  say('the trainer that comes with the service: starting …')
  const trainer = await startTrainer({ state, models: { tiny: await makeTinyModel() } })
  try {
    for (const [name, wanted] of Object.entries(SDKS)) {
      const python = isAsked(name) ? await install(name, wanted) : null
      if (python !== null) await loop(python, trainer.url)
    }
  } finally {
    await trainer.stop()
    rmSync(state, { recursive: true, force: true })
  }
}

async function skyrl(): Promise<void> {
  const { wanted } = PACKAGES.skyrl
  say(`${wanted}: installing where it is not there yet …`)
  const python = await installPackage('skyrl').catch((error: unknown) => {
    say(
      `${wanted}: not run, since it could not be installed (${lastLine(error)}); its answers are held by src/weights/jobs/run-job.test.ts`,
    )
    return null
  })
  if (python !== null) say(`${wanted}: ${(await loopOnSkyrl(python)).join('; ')}, each published and served`)
}

await begin(['torch', 'llama', 'tiny model'])
await official()
if (isAsked('skyrl')) await skyrl()
