/** Trainers that spend are killed at random moments: nothing that they said they had spent is lost, and the cap of the day holds. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { randomOf, type Random } from '../../../test/crash/random.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { IS_SHORT } from '../../../test/support/short.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { Ledger } from './ledger.ts'
import { NOON } from './testing/day.ts'

const KILLS = IS_SHORT ? 5 : 20
/** Two trainers of one scenario at once. */
const COMPONENTS = ['one', 'other']
const CALLS_PER_KILL = 8
/** More than the runs that are killed spend. */
const CAP = KILLS * COMPONENTS.length * (CALLS_PER_KILL + 2)
const SPENDER = fileURLToPath(new URL('testing/spender.ts', import.meta.url))
const SEED = process.env['LEDGER_SEED'] ?? String(Date.now())
const TORN: readonly [string, ...string[]] = ['\n["one",1,"epis', '\n["one",1,"episode",1,99', '\n', '\u0000\u0000']

it('killed at random moments trainers lose nothing of what they spent, and the cap of the day holds over all of them', async () => {
  const folder = join(temporaryFolder(), 'spending')
  const random = randomOf(SEED)
  const about = `LEDGER_SEED=${SEED} repeats the choices`
  let said = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const runs = COMPONENTS.map((component) => startSpender(folder, component))
    await Promise.all(runs.map((run) => killSometime(run, random)))
    for (const { found } of runs) expect(found, about).toBeGreaterThanOrEqual(said)
    said += runs.reduce((sum, { spent }) => sum + spent, 0)
    const known = await callsIn(folder)
    expect(known, about).toBeGreaterThanOrEqual(said)
    // Each may have spent once more before it could say so; a call that it was about to make counts too.
    expect(known, about).toBeLessThanOrEqual(said + COMPONENTS.length * (kill + 1))
    if (random.fraction() < TORN_SHARE) appendFileSync(fileOf(folder), random.pick(TORN))
    expect(await callsIn(folder), about).toBe(known)
  }
  const last = COMPONENTS.map((component) => startSpender(folder, component))
  await Promise.all(last.map(({ ended }) => ended))
  expect(
    last.map(({ isCapped }) => isCapped),
    about,
  ).toEqual([true, true])
  const total = await callsIn(folder)
  // All of it, but for a call that one of them waited for while the other did not make it.
  expect(total, about).toBeGreaterThanOrEqual(CAP - 1)
  expect(total, about).toBeLessThanOrEqual(CAP)
  const again = startSpender(folder, 'one')
  await again.ended
  expect(again, about).toMatchObject({ found: total, spent: 0, isCapped: true })
}, 300_000)

const TORN_SHARE = 0.5
const fileOf = (folder: string): string => join(folder, '2026-05-04.jsonl')

/** As a trainer that starts now finds them. */
async function callsIn(folder: string): Promise<number> {
  const ledger = new Ledger(new FolderDocuments(dirname(folder)), 'reader')
  await ledger.settle(NOON)
  return ledger.today(NOON).calls
}

interface SpenderRun {
  found: number
  spent: number
  isCapped: boolean
  onSaid: () => void
  readonly ended: Promise<unknown>
  kill(): void
}

function startSpender(folder: string, component: string): SpenderRun {
  const child = spawn(process.execPath, [SPENDER, folder, component, String(CAP)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = (): void => void child.kill('SIGKILL')
  onTestFinished(kill)
  const lines = createInterface(child.stdout)
  // Not before everything it said was heard.
  const ended = Promise.all([once(child, 'close'), once(lines, 'close')])
  const run: SpenderRun = { found: 0, spent: 0, isCapped: false, onSaid: () => undefined, ended, kill }
  lines.on('line', (line) => {
    if (line.startsWith('found ')) run.found = Number(line.slice('found '.length))
    if (line === 'spent') run.spent += 1
    if (line === 'capped') run.isCapped = true
    run.onSaid()
  })
  return run
}

/** A moment after it said something, so that the kill meets every part of a write. */
async function killSometime(run: SpenderRun, random: Random): Promise<void> {
  let lines = random.between(1, CALLS_PER_KILL)
  const delayMillis = random.fraction() * 2
  run.onSaid = () => {
    lines -= 1
    if (lines === 0) setTimeout(() => run.kill(), delayMillis)
  }
  await run.ended
}
