/** What the crash commands share: their options, the rounds of an ordeal, what is looked at afterwards, and how it all ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Place } from './child.ts'
import { examine } from './examine.ts'

interface Violation {
  readonly rule: string
  readonly detail: string
}

interface Staging {
  readonly place: Place
  readonly ordeal: {
    readonly violations: readonly Violation[]
    round(round: number, kills: number): Promise<string>
    finish(): Promise<void>
    outcome(): object
  }
  /** Lines of the log that a sound machine leaves none of, whatever is killed. */
  readonly never: readonly string[]
  /** Which promise damage to the store breaks, and which damage to the releases. */
  readonly rules: { readonly store: string; readonly releases: string }
  /** One line about what was endured. */
  summary(): string
  close?(): Promise<void>
}

interface CrashCommand {
  /** The npm script, to see it again. */
  readonly script: string
  readonly kills: number
  readonly open: (directory: string, seed: string) => Promise<Staging> | Staging
}

/** Ends the process with code 1 when a promise was broken; then its data stays. */
export async function runCrashCommand({ script, kills: usual, open }: CrashCommand): Promise<void> {
  const { kills, seed, json } = optionsOf(usual)
  process.once('SIGINT', () => process.exit(130))
  const directory = mkdtempSync(join(tmpdir(), 'svc-crash-'))
  say(`seed ${seed}, ${kills} kills, data in ${directory}`)
  const staging = await open(directory, seed)
  const violations = [...(await endure(staging, kills)), ...(await leftBehind(staging))]
  await staging.close?.()
  for (const { rule, detail } of violations) say(`BROKEN ${rule}: ${detail}`)
  if (violations.length > 0) say(`again: npm run ${script} -- --kills ${kills} --seed ${seed}`)
  if (json) process.stdout.write(`${JSON.stringify({ seed, ...staging.ordeal.outcome(), violations })}\n`)
  say(`${staging.summary()}: ${violations.length} broken`)
  if (violations.length === 0) rmSync(directory, { recursive: true })
  process.exitCode = violations.length === 0 ? 0 : 1
}

function optionsOf(usual: number) {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: String(usual) },
      seed: { type: 'string', default: String(Date.now()) },
      json: { type: 'boolean', default: false },
    },
  })
  const kills = Number(values.kills)
  if (!Number.isInteger(kills) || kills < 1) throw new Error('--kills must be a whole number of 1 or more')
  return { ...values, kills }
}

const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function endure({ ordeal }: Staging, kills: number): Promise<readonly Violation[]> {
  try {
    for (let round = 1; round <= kills && ordeal.violations.length === 0; round += 1) say(await ordeal.round(round, kills))
    if (ordeal.violations.length === 0) await ordeal.finish()
    return ordeal.violations
  } catch (error) {
    return [...ordeal.violations, { rule: 'answer', detail: error instanceof Error ? error.message : String(error) }]
  }
}

/** The store's own check, git's, and the log, over everything that is left. */
async function leftBehind({ place, never, rules }: Staging): Promise<readonly Violation[]> {
  const { damage, fsck, logged } = await examine(place, never)
  return [
    ...damage.map((detail): Violation => ({ rule: rules.store, detail })),
    ...fsck.map((detail): Violation => ({ rule: rules.releases, detail })),
    ...logged.map((detail): Violation => ({ rule: 'answer', detail })),
  ]
}
