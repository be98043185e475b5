/**
 * Kills a service again and again and checks after every restart that it kept its promises:
 * `node test/crash/run.ts --oracle NAME [--kills N] [--short] [--seed S] [--json]`.
 * Ends with code 1 on a broken promise, and prints the command that repeats it. The oracles:
 *
 * - records: nothing acknowledged was lost, doubled or altered (`--listeners N` for several threads that take requests).
 * - training: each report and instruction was learned from once, no row changed, every release holds what its row says.
 * - evolution: each report, instruction and proposal is settled once, and no process or folder of an episode is left.
 * - weights: service, trainer and engine are killed at every point of a weight job (`--delays N` times later too, `--only TEXT` for some);
 *   the batch is published once, by one optimizer step, to the weights of an undisturbed run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { CrashOptions, Oracle } from './oracle.ts'

const ORACLES: Readonly<Record<string, () => Promise<{ readonly oracle: Oracle }>>> = {
  records: () => import('./records/world.ts'),
  training: () => import('./training/world.ts'),
  evolution: () => import('./evolution/world.ts'),
  weights: () => import('./weights/world.ts'),
}

const { values } = parseArgs({
  options: {
    oracle: { type: 'string', default: 'records' },
    kills: { type: 'string' },
    seed: { type: 'string', default: String(Date.now()) },
    short: { type: 'boolean', default: false },
    delays: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    listeners: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})
const loaded = await ORACLES[values.oracle]?.()
if (loaded === undefined) throw new Error(`--oracle must be one of ${Object.keys(ORACLES).join(', ')}`)
await run(loaded.oracle)

/** The data stays when a promise was broken. */
async function run(oracle: Oracle): Promise<void> {
  const { seed, short, only } = values
  const kills = Number(values.kills ?? (short ? oracle.shortKills : oracle.kills))
  if (!Number.isInteger(kills) || kills < 1) throw new Error('--kills must be a whole number of 1 or more')
  const listeners = Number(values.listeners)
  if (!Number.isInteger(listeners) || listeners < 1) throw new Error('--listeners must be a whole number of 1 or more')
  const options: CrashOptions = { seed, kills, short, only, listeners, delays: Number(values.delays) }
  process.once('SIGINT', () => process.exit(130))
  const directory = mkdtempSync(join(tmpdir(), 'svc-crash-'))
  const trial = await oracle.open(directory, options)
  say(`${values.oracle}: seed ${seed}, ${trial.kills} kills, data in ${directory}`)
  const violations = await trial.endure(say)
  for (const { rule, detail } of violations) say(`BROKEN ${rule}: ${detail}`)
  if (violations.length > 0) say(`again: node test/crash/run.ts ${again(seed)}`)
  if (values.json) process.stdout.write(`${JSON.stringify({ seed, ...trial.outcome(), violations })}\n`)
  say(`${trial.summary()}: ${violations.length} broken`)
  if (violations.length === 0) rmSync(directory, { recursive: true })
  process.exitCode = violations.length === 0 ? 0 : 1
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** The arguments of this run, with its seed. */
function again(seed: string): string {
  const given = process.argv.slice(2)
  return [...given, ...(given.includes('--seed') ? [] : ['--seed', seed])].join(' ')
}
