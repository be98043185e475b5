/**
 * `npm run test:attacks`: runs every attack of the project and prints how many were tried and held, by class.
 *
 *   --json FILE   write the counts
 *   --page        write the table into docs/security.md, when nothing was left out
 *   --short       take the results that earlier runs left in TEST_REPORTS, run the rest, and leave out the long form
 *
 * Exit code 1 when an attack was not held, is not there, or too few ran.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ATTACKS_LEAST, CLASSES, LONG_FORM } from '../test/attacks/classes.ts'
import { countAttacks, readResults, type AttackResults } from '../test/attacks/count.ts'
import { LIMITS } from '../test/attacks/limits.ts'
import { countForPage, countForTerminal, withPart } from '../test/attacks/table.ts'
import { SECURITY_PAGE } from '../test/attacks/page.ts'
import { pinnedNode, ROOT, runForCode, runScript } from './run.mjs'

/** Of the folders whose tests have one of their own. */
const CONFIGS = ['test/agents/', 'test/browser/']

runScript(async () => {
  const { values } = parseArgs({
    options: { json: { type: 'string' }, page: { type: 'boolean', default: false }, short: { type: 'boolean', default: false } },
  })
  const known = readResults(ROOT, values.short ? reportsIn(process.env['TEST_REPORTS']) : [])
  const files = attackFiles().filter((file) => !known.has(file))
  const leftOut = new Map(values.short ? LONG_FORM.filter((file) => !known.has(file)).map((file) => [file, 'part of the long form']) : [])
  const results = new Map([...known, ...(await playAll(files.filter((file) => !leftOut.has(file))))])
  const count = countAttacks(results, { classes: CLASSES, limits: LIMITS, least: ATTACKS_LEAST, leftOut })
  process.stdout.write(`\n${countForTerminal(count)}\n`)
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(count, null, 2)}\n`)
  if (values.page && leftOut.size === 0) writePage(countForPage(count, CLASSES))
  for (const problem of count.problems) process.stderr.write(`${problem}\n`)
  process.exitCode = count.problems.length === 0 ? 0 : 1
})

function attackFiles(): readonly string[] {
  const sources = [...CLASSES.flatMap(({ files }) => files), ...LIMITS.flatMap(({ shownBy }) => (shownBy === undefined ? [] : [shownBy]))]
  return [...new Set(sources.map(({ file }) => file))]
}

/** A run that fails still leaves its report: which attacks were not held is said by the count. */
async function playAll(files: readonly string[]): Promise<AttackResults> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-attacks-'))
  try {
    for (const [config, members] of Map.groupBy(files, configOf)) {
      process.env['TEST_REPORTS'] = folder
      await runForCode(pinnedNode(), ['scripts/test.mjs', '--config', config, ...members])
    }
    return readResults(ROOT, reportsIn(folder))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function configOf(file: string): string {
  return `${CONFIGS.find((folder) => file.startsWith(folder)) ?? ''}vitest.config.ts`
}

function reportsIn(folder: string | undefined): readonly string[] {
  return folder === undefined ? [] : globSync('*.json', { cwd: folder }).map((name) => readFileSync(join(folder, name), 'utf8'))
}

function writePage(table: string): void {
  const page = join(ROOT, SECURITY_PAGE)
  writeFileSync(page, withPart(readFileSync(page, 'utf8'), 'counts', table))
}
