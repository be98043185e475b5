/**
 * Kills a service that evolves again and again and checks that each report, instruction and proposal is settled once, that every release is
 * what its row says, and that no process or folder of an episode is left: `node test/crash/evolution/run.ts --kills 60 [--seed S] [--json]`.
 * Ends with code 1 on the first broken promise, and says how to see it again.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { examine } from '../examine.ts'
import { Ordeal, type Outcome } from './ordeal.ts'
import { sceneIn, type Scene } from './scene.ts'
import type { Violation } from './seen.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
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
  const directory = mkdtempSync(join(tmpdir(), 'svc-crash-evolution-'))
  const scene = sceneIn(directory)
  say(`seed ${values.seed}, ${kills} kills, data in ${directory}`)
  const ordeal = new Ordeal(scene, values.seed)
  const violations = [...(await endure(ordeal)), ...(await leftBehind(scene))]
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
async function leftBehind(scene: Scene): Promise<readonly Violation[]> {
  const { damage, fsck, logged } = await examine(scene, ['failure', 'beside'])
  return [
    ...damage.map((detail): Violation => ({ rule: 'lost', detail })),
    ...fsck.map((detail): Violation => ({ rule: 'tree', detail })),
    ...logged.map((detail): Violation => ({ rule: 'answer', detail })),
  ]
}

function report(outcome: Outcome, violations: readonly Violation[]): void {
  for (const { rule, detail } of violations) say(`BROKEN ${rule}: ${detail}`)
  if (violations.length > 0) say(`again: npm run test:crash:evolution -- --kills ${kills} --seed ${values.seed}`)
  if (values.json) process.stdout.write(`${JSON.stringify({ seed: values.seed, ...outcome, violations })}\n`)
  const { acknowledged, admitted, rows, published, midEpisode } = outcome
  say(
    `${outcome.kills} kills (${midEpisode} while episodes ran), ${acknowledged} acknowledged, ${admitted} proposals admitted, ${rows} rows, ${published} published: ${violations.length} broken`,
  )
}
