/** `npm run learn:no-ops`: in every world a hundred scenarios of fifty no-op changes, played by the trainer; one process per core. */
import { execFile } from 'node:child_process'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { parseArgs, promisify } from 'node:util'
import { noOpsIn, WORLDS } from './index.ts'
import { forTerminal, NO_OP_MARKS, noOpWorldTable, withTables } from './report/tables.ts'
import { rateOf, type NoOpWorld } from './results.ts'

const PAGE = new URL('../docs/learning.md', import.meta.url)
const RATE_MAX = 0.05
const EXIT_MISSED = 1
const run = promisify(execFile)

const { values: options } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '100' },
    offers: { type: 'string', default: '50' },
    family: { type: 'string', multiple: true, default: [] },
    others: { type: 'string', default: '0' },
    kept: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const HELP = `npm run learn:no-ops -- [options]

  --scenarios N    scenarios per world (100)
  --offers N       no-op changes that each of them is offered (50)
  --family NAME    this world; may be given several times (all worlds)
  --others N       scenarios of the worlds that are not named (0)
  --kept FILE      keep what each world found in this file, and play no world again that is in it with as many scenarios
  --json           print JSON instead of a table
  --write          write the table into docs/learning.md

Exit status: 0 when at most 5 of 100 scenarios of every world published a no-op, else 1.`

const offers = Number(options.offers)
if (options.help) process.stdout.write(`${HELP}\n`)
else await main()

async function main(): Promise<void> {
  const wanted = plan()
  const [only] = wanted
  // A world of its own is played here: the processes below are such.
  const worlds =
    wanted.length === 1 && only !== undefined ? [await noOpsIn(only.family, only.scenarios, offers)] : await inProcesses(wanted)
  const table = noOpWorldTable(worlds)
  process.stdout.write(`${options.json ? JSON.stringify(worlds) : forTerminal(table)}\n`)
  if (options.write) await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), [table], NO_OP_MARKS))
  const missed = worlds.filter((world) => rateOf(world) > RATE_MAX)
  for (const { family } of missed) process.stderr.write(`missed: more than 5 of 100 scenarios of ${family} published a no-op\n`)
  if (missed.length > 0) process.exitCode = EXIT_MISSED
}

interface Wanted {
  readonly family: string
  readonly scenarios: number
}

/** Those with the most scenarios first. */
function plan(): readonly Wanted[] {
  const named = options.family.length === 0 ? Object.keys(WORLDS) : options.family
  const rest = Object.keys(WORLDS).filter((family) => !named.includes(family))
  return [
    ...named.map((family) => ({ family, scenarios: Number(options.scenarios) })),
    ...rest.map((family) => ({ family, scenarios: Number(options.others) })),
  ].filter(({ scenarios }) => scenarios > 0)
}

/** One per core. What each found is told as it ends: all of them take an hour. */
async function inProcesses(wanted: readonly Wanted[]): Promise<readonly NoOpWorld[]> {
  const found = new Map(
    (await keptWorlds()).filter((world) => wanted.some((one) => isOf(world, one))).map((world) => [world.family, world]),
  )
  const waiting = wanted.filter(({ family }) => !found.has(family))
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const world = await inProcess(next)
      found.set(next.family, world)
      keep([...found.values()])
      process.stderr.write(
        `${found.size} of ${wanted.length}: ${world.family}, ${world.publishing} of ${world.scenarios} published a no-op\n`,
      )
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return wanted.flatMap(({ family }) => found.get(family) ?? [])
}

function isOf(world: NoOpWorld, { family, scenarios }: Wanted): boolean {
  return world.family === family && world.scenarios >= scenarios && world.offers === offers
}

/** Of a run that was stopped. */
async function keptWorlds(): Promise<readonly NoOpWorld[]> {
  if (options.kept === undefined || !existsSync(options.kept)) return []
  const worlds: readonly NoOpWorld[] = JSON.parse(await readFile(options.kept, 'utf8'))
  return worlds
}

/** Whole or not at all, whenever the run is stopped. */
function keep(worlds: readonly NoOpWorld[]): void {
  if (options.kept === undefined) return
  writeFileSync(`${options.kept}.new`, JSON.stringify(worlds))
  renameSync(`${options.kept}.new`, options.kept)
}

async function inProcess({ family, scenarios }: Wanted): Promise<NoOpWorld> {
  const words = [import.meta.filename, '--family', family, '--scenarios', String(scenarios), '--offers', options.offers, '--json']
  // It exits with 1 where the goal is missed, and prints what it found all the same.
  const { stdout } = await run(process.execPath, words).catch(printedBy)
  const [world]: readonly NoOpWorld[] = JSON.parse(stdout)
  if (world === undefined) throw new Error(`${family} was not played`)
  return world
}

function printedBy(error: unknown): { readonly stdout: string } {
  if (error instanceof Error && 'stdout' in error && typeof error.stdout === 'string' && error.stdout !== '')
    return { stdout: error.stdout }
  throw error
}
