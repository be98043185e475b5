/**
 * Kills the service again and again under traffic and checks after every restart that nothing acknowledged was lost, doubled or altered:
 * `node test/crash/run.ts --kills 50 [--seed S] [--json]`. Ends with code 1 on the first broken promise, and says how to see it again.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import { startUpstream } from '../support/upstream.ts'
import { placeIn } from './child.ts'
import { Ordeal, type Outcome } from './ordeal.ts'
import { checkRepository } from './snapshot.ts'
import type { Violation } from './oracle.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now()) },
    json: { type: 'boolean', default: false },
  },
})
const kills = Number(values.kills)
if (!Number.isInteger(kills) || kills < 1) throw new Error('--kills must be a whole number of 1 or more')
const say = (line: string): void => void process.stderr.write(`${line}\n`)

process.exitCode = await main()

async function main(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-crash-'))
  const place = placeIn(directory)
  const upstream = await startUpstream()
  say(`seed ${values.seed}, ${kills} kills, data in ${directory}`)
  const ordeal = new Ordeal(place, upstream, values.seed)
  try {
    for (let round = 1; round <= kills && ordeal.violations.length === 0; round += 1) say(await ordeal.round(round, kills))
    if (ordeal.violations.length === 0) await ordeal.finish()
  } finally {
    await upstream.close()
  }
  const violations = [...ordeal.violations, ...(await examine())]
  report(ordeal.outcome(), violations)
  if (violations.length === 0) rmSync(directory, { recursive: true })
  return violations.length === 0 ? 0 : 1

  /** The store's own check and git's, over everything that is left. */
  async function examine(): Promise<readonly Violation[]> {
    const store = await sqlite.plugin.make({ directory: place.records })
    const damage = await store.verify(() => undefined)
    await store.close()
    const fsck = await checkRepository(place)
    return [
      ...damage.map(({ scenario, agent_record_id, problem }): Violation => ({
        rule: 'altered',
        detail: `${scenario} ${agent_record_id}: ${problem}`,
      })),
      ...(fsck === '' ? [] : [{ rule: 'release chain', detail: `git fsck: ${fsck}` } as const]),
    ]
  }
}

function report(outcome: Outcome, violations: readonly Violation[]): void {
  for (const { rule, detail } of violations) say(`BROKEN ${rule}: ${detail}`)
  if (violations.length > 0) say(`again: node test/crash/run.ts --kills ${kills} --seed ${values.seed}`)
  const summary = { seed: values.seed, ...outcome, violations }
  if (values.json) process.stdout.write(`${JSON.stringify(summary)}\n`)
  else
    say(
      `${outcome.kills} kills, ${outcome.acknowledged} acknowledged, ${outcome.checks} checks of rows, ${outcome.bodies} of bodies: ${violations.length} broken`,
    )
}
