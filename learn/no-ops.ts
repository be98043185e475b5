/** `npm run learn:no-ops`: in every world a hundred scenarios of fifty no-op changes, played by the trainer; one process per core. */
import { execFile } from 'node:child_process'
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
    family: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const HELP = `npm run learn:no-ops -- [options]

  --scenarios N    scenarios per world (100)
  --offers N       no-op changes that each of them is offered (50)
  --family NAME    one world alone, printed as JSON
  --write          write the table into docs/learning.md

Exit status: 0 when at most 5 of 100 scenarios of every world published a no-op, else 1.`

const [scenarios, offers] = [Number(options.scenarios), Number(options.offers)]
if (options.help) process.stdout.write(`${HELP}\n`)
else if (options.family !== undefined) process.stdout.write(`${JSON.stringify(await noOpsIn(options.family, scenarios, offers))}\n`)
else await main()

async function main(): Promise<void> {
  const waiting = Object.keys(WORLDS)
  const found = new Map<string, NoOpWorld>()
  const work = async (): Promise<void> => {
    for (let family = waiting.shift(); family !== undefined; family = waiting.shift()) found.set(family, await inProcess(family))
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  const worlds = Object.keys(WORLDS).flatMap((family) => found.get(family) ?? [])
  const table = noOpWorldTable(worlds)
  process.stdout.write(`${forTerminal(table)}\n`)
  if (options.write) await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), [table], NO_OP_MARKS))
  const missed = worlds.filter((world) => rateOf(world) > RATE_MAX)
  for (const { family } of missed) process.stderr.write(`missed: more than 5 of 100 scenarios of ${family} published a no-op\n`)
  if (missed.length > 0) process.exitCode = EXIT_MISSED
}

async function inProcess(family: string): Promise<NoOpWorld> {
  const words = [import.meta.filename, '--family', family, '--scenarios', options.scenarios, '--offers', options.offers]
  const { stdout } = await run(process.execPath, words)
  return JSON.parse(stdout)
}
