/**
 * Kills the service, the trainer and the engine at every point of a weight job, and checks that each time the batch is published once, by one
 * optimizer step, to the weights of an undisturbed run: `node test/crash/weights/run.ts [--short] [--delays N] [--seed S] [--only TEXT]`.
 * Ends with code 1 when a promise was broken; then its data stays.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { begin } from '../../needs/ready.ts'
import { randomOf } from '../random.ts'
import { attempt, nameOf, type Attack } from './attempt.ts'
import { judge, type Expected } from './oracle.ts'
import { POINTS, type Point } from './points.ts'
import { record, type Recording } from './recording.ts'
import { printTable, type Result } from './table.ts'
import { VICTIMS, type Victim } from './trio.ts'

/** Few cores are needed by each: much of a run is waiting for what was killed. */
const AT_ONCE = 2
const DELAYS_USUAL = 3
const DELAY_MS_MAX = 300
/** Where each has most to lose. */
const SHORT: Readonly<Record<Victim, readonly Point[]>> = {
  service: ['trained', 'examined', 'loading'],
  trainer: ['model', 'trained', 'checkpoint'],
  engine: ['trying', 'row', 'loading'],
}

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    delays: { type: 'string', default: String(DELAYS_USUAL) },
    seed: { type: 'string', default: String(Date.now()) },
    only: { type: 'string', default: '' },
  },
})
process.once('SIGINT', () => process.exit(130))
const within = mkdtempSync(join(tmpdir(), 'svc-crash-'))
const attacks = attacksOf().filter((attack) => nameOf(attack).includes(values.only))
say(`seed ${values.seed}, ${attacks.length} kills, data in ${within}`)

await begin(['torch', 'llama', 'tiny model'])
const recording = await record(within)
const undisturbed = await attempt(within, recording, null)
const expected: Expected = { batch: recording.batch, undisturbed }
const first = judge(null, undisturbed, expected)
const results = first.length > 0 ? [] : await attackAll(recording, expected)
const broken = [...first, ...results.flatMap(({ broken: lines }) => lines)]
printTable(results)
for (const line of first) say(`BROKEN undisturbed: ${line}`)
say(`${results.length} kills: ${broken.length} broken`)
if (broken.length > 0) say(`again: npm run test:crash:weights -- --seed ${values.seed}${values.short ? ' --short' : ''}`)
else rmSync(within, { recursive: true })
process.exitCode = broken.length === 0 ? 0 : 1

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function attacksOf(): readonly Attack[] {
  const delays = values.short ? 0 : Number(values.delays)
  const random = randomOf(values.seed)
  return VICTIMS.flatMap((who) =>
    (values.short ? SHORT[who] : POINTS).flatMap((point) => [
      { who, point, afterMs: null },
      ...Array.from({ length: delays }, () => ({ who, point, afterMs: random.between(1, DELAY_MS_MAX) })),
    ]),
  )
}

async function attackAll(from: Recording, wanted: Expected): Promise<readonly Result[]> {
  const waiting = [...attacks]
  const done: Result[] = []
  const work = async (): Promise<void> => {
    for (let attack = waiting.shift(); attack !== undefined; attack = waiting.shift()) {
      const result = await resultOf(from, wanted, attack)
      done.push(result)
      for (const line of result.broken) say(`BROKEN ${nameOf(attack)}: ${line}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return done
}

async function resultOf(from: Recording, wanted: Expected, attack: Attack): Promise<Result> {
  try {
    const outcome = await attempt(within, from, attack)
    const lines = judge(attack, outcome, wanted)
    if (lines.length === 0) rmSync(join(within, nameOf(attack)), { recursive: true })
    return { attack, outcome, broken: lines }
  } catch (error) {
    return { attack, outcome: null, broken: [error instanceof Error ? error.message : String(error)] }
  }
}
