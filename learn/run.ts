/** `npm run learn`: runs the suite, prints the results, writes the page and the plot, and names missed goals. */
import { readFile, writeFile } from 'node:fs/promises'
import { goalsOf, type Results } from './results.ts'
import { GEPA, pythonWithGepa } from './gepa/environment.ts'
import { openGepa, type Gepa } from './gepa/life.ts'
import { BUILTIN, isPartial, playSuite, HELP, readOptions, type Options } from './index.ts'
import { wordsOf } from '../src/kit/index.ts'
import { withTables, forTerminal, tablesOf } from './report/tables.ts'
import { plotOf } from './report/plot.ts'

const PAGE = new URL('../docs/learning.md', import.meta.url)
const PLOT = new URL('../docs/learning.svg', import.meta.url)
const BAR_CHARACTERS = 40

const EXIT_MISSED = 1
const EXIT_BROKEN = 2

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  if (options === null) {
    process.stdout.write(`${HELP}\n`)
    return 0
  }
  const gepa = options.isQuick || options.gates.length > 0 ? null : await gepaOrNull()
  const results = await playSuite(options, gepa, showProgress)
  await gepa?.close()
  for (const table of tablesOf(results)) process.stdout.write(`\n${forTerminal(table)}\n`)
  await write(options, results)
  const missed = goalsOf(results).filter(({ isMet }) => isMet === false)
  for (const { name, wanted, reached } of missed) process.stderr.write(`missed: ${name}: ${reached}, wanted ${wanted}\n`)
  return missed.length === 0 ? 0 : EXIT_MISSED
}

/** Null where it cannot be installed. */
async function gepaOrNull(): Promise<Gepa | null> {
  try {
    return openGepa(await pythonWithGepa(), BUILTIN)
  } catch (error) {
    process.stderr.write(`${GEPA} is left out: it cannot be installed here (${wordsOf(error)})\n`)
    return null
  }
}

/** On a terminal only. */
function showProgress(done: number): void {
  if (!process.stderr.isTTY) return
  const filled = Math.round(done * BAR_CHARACTERS)
  const bar = `[${'#'.repeat(filled)}${' '.repeat(BAR_CHARACTERS - filled)}] ${Math.floor(done * 100)} %`
  process.stderr.write(done < 1 ? `\r${bar}` : `\r${' '.repeat(bar.length)}\r`)
}

/** The page is written only after a full run. */
async function write(options: Options, results: Results): Promise<void> {
  const { isQuick, json } = options
  if (json !== null) await writeFile(json, `${JSON.stringify({ goals: goalsOf(results), ...results }, null, 2)}\n`)
  if (isQuick || isPartial(options)) return
  await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), tablesOf(results)))
  await writeFile(PLOT, plotOf(results))
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = EXIT_BROKEN
}
