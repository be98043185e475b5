/**
 * Kills a service that learns again and again and checks after every restart that each report and instruction was learned from once, that no
 * row ever changes, and that every release holds what its row says: `node test/crash/training/run.ts --kills 200 [--seed S] [--json]`.
 * Ends with code 1 on the first broken promise, and says how to see it again.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { placeIn, type Place } from '../child.ts'
import { examine } from '../examine.ts'
import { Ordeal, type Outcome } from './ordeal.ts'
import type { Violation } from './seen.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now()) },
    json: { type: 'boolean', default: false },
  },
})
const kills = Number(values.kills)
if (!Number.isInteger(kills) || kills < 1) throw new Error('--kills must be a whole number of 1 or more')
const say = (line: string): void => void process.stderr.write(`${line}\n`)

process.once('SIGINT', () => process.exit(130))
process.exitCode = await main()

async function main(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-crash-training-'))
  const place = placeIn(directory)
  say(`seed ${values.seed}, ${kills} kills, data in ${directory}`)
  const ordeal = new Ordeal(place, values.seed)
  const violations = [...(await endure(ordeal)), ...(await leftBehind(place))]
  report(ordeal.outcome(), violations)
  if (violations.length === 0) rmSync(directory, { recursive: true })
  return violations.length === 0 ? 0 : 1
}

async function endure(ordeal: Ordeal): Promise<readonly Violation[]> {
  try {
    for (let round = 1; round <= kills && ordeal.violations.length === 0; round += 1) say(await ordeal.round(round, kills))
    if (ordeal.violations.length === 0) await ordeal.finish()
    return ordeal.violations
  } catch (error) {
    return [...ordeal.violations, { rule: 'answer', detail: error instanceof Error ? error.message : String(error) }]
  }
}

/** On a sound machine nothing but the kills goes wrong, and no step fails to land. */
async function leftBehind(place: Place): Promise<readonly Violation[]> {
  const { damage, fsck, logged } = await examine(place, ['failure', 'beside'])
  return [
    ...damage.map((detail): Violation => ({ rule: 'lost', detail })),
    ...fsck.map((detail): Violation => ({ rule: 'unreadable', detail })),
    ...logged.map((detail): Violation => ({ rule: 'answer', detail })),
  ]
}

function report(outcome: Outcome, violations: readonly Violation[]): void {
  for (const { rule, detail } of violations) say(`BROKEN ${rule}: ${detail}`)
  if (violations.length > 0) say(`again: npm run test:crash:training -- --kills ${kills} --seed ${values.seed}`)
  if (values.json) process.stdout.write(`${JSON.stringify({ seed: values.seed, ...outcome, violations })}\n`)
  const { acknowledged, removed, rows, early } = outcome
  say(
    `${outcome.kills} kills (${early} before all was at rest), ${acknowledged} acknowledged, ${removed} removed, ${rows} rows: ${violations.length} broken`,
  )
}
