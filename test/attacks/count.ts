/** Counts attacks by class out of the reports of test runs. An attack that did not run is never counted as held. */
import { join } from 'node:path'
import { z } from 'zod'
import type { AttackClass, AttackFile, KnownLimit } from './types.ts'

interface AttackResult {
  readonly title: string
  /** Skipped by its own file, which says why in the title. */
  readonly outcome: 'held' | 'not held' | 'not run'
}

/** By file, relative to the root. */
export type AttackResults = ReadonlyMap<string, readonly AttackResult[]>

interface ClassCount {
  readonly name: string
  readonly tried: number
  readonly held: number
  readonly limits: number
  readonly notRun: readonly string[]
  /** Attacks that were not held, and what keeps the count from being right. */
  readonly problems: readonly string[]
}

export interface AttackCount {
  readonly classes: readonly ClassCount[]
  /** An attack in two classes counts once. */
  readonly tried: number
  readonly held: number
  readonly problems: readonly string[]
}

/** Of a report as vitest writes it (`--reporter=json`). */
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ ancestorTitles: z.array(z.string()), title: z.string(), status: z.string() })),
    }),
  ),
})

export function readResults(root: string, reports: readonly string[]): AttackResults {
  const files = reports.flatMap((report) => reportSchema.parse(JSON.parse(report)).testResults)
  return new Map(
    files.map(({ name, status: whole, assertionResults }) => [
      name.replace(join(root, '/'), ''),
      assertionResults.map(({ ancestorTitles, title, status }) => ({
        title: [...ancestorTitles, title].join(' > '),
        outcome: status === 'passed' ? 'held' : status === 'skipped' && whole === 'passed' ? 'not run' : 'not held',
      })),
    ]),
  )
}

interface Expected {
  readonly classes: readonly AttackClass[]
  readonly limits: readonly KnownLimit[]
  readonly least: number
  /** Files that this run left out on purpose, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>
}

export function countAttacks(results: AttackResults, { classes, limits, least, leftOut }: Expected): AttackCount {
  const counted = classes.map((each) => countClass(each, results, leftOut, limits))
  const distinct = new Map(
    classes.flatMap(({ files }) =>
      files.flatMap((source) => ran(source, results).map(({ title, outcome }) => [`${source.file} > ${title}`, outcome] as const)),
    ),
  )
  const outcomes = [...distinct.values()]
  return {
    classes: counted,
    tried: outcomes.length,
    held: outcomes.filter((outcome) => outcome === 'held').length,
    problems: [
      ...counted.flatMap(({ problems }) => problems),
      ...limits.flatMap((limit) => limitProblems(limit, classes, results)),
      ...(outcomes.length < least ? [`${outcomes.length} attacks ran, and there must be ${least}`] : []),
    ],
  }
}

function countClass(
  { name, least, files }: AttackClass,
  results: AttackResults,
  leftOut: ReadonlyMap<string, string>,
  limits: readonly KnownLimit[],
): ClassCount {
  const found = files.flatMap((source) => attacksOf(source, results).map((attack) => ({ ...attack, file: source.file })))
  const tried = found.filter(({ outcome }) => outcome !== 'not run')
  const notHeld = tried.filter(({ outcome }) => outcome === 'not held')
  const absent = files.filter((source) => !leftOut.has(source.file) && attacksOf(source, results).length === 0)
  const out = files.flatMap(({ file }) => (leftOut.has(file) && !results.has(file) ? [`${file}: ${leftOut.get(file)}`] : []))
  return {
    name,
    tried: tried.length,
    held: tried.length - notHeld.length,
    limits: limits.filter(({ of }) => of === name).length,
    notRun: [...out, ...found.filter(({ outcome }) => outcome === 'not run').map(({ file, title }) => `${file}: ${title}`)],
    problems: [
      ...notHeld.map(({ file, title }) => `${name}: not held: ${file}: ${title}`),
      ...absent.map(({ file, titles }) => `${name}: ${file}${titles === undefined ? '' : ` (${titles.source})`}: no such attack`),
      ...(tried.length < least ? [`${name}: ${tried.length} attacks ran, and there must be ${least}`] : []),
    ],
  }
}

/** A file that needs what this machine lacks has one skipped line that begins with "needs", in the place of its tests. */
function attacksOf({ file, titles, except }: AttackFile, results: AttackResults): readonly AttackResult[] {
  return (results.get(file) ?? []).filter(
    ({ title, outcome }) =>
      (outcome === 'not run' && /(^| > )needs /.test(title)) ||
      ((titles === undefined || titles.test(title)) && except?.test(title) !== true),
  )
}

const ran = (source: AttackFile, results: AttackResults): readonly AttackResult[] =>
  attacksOf(source, results).filter(({ outcome }) => outcome !== 'not run')

/** A limit that no longer exists must leave the page. */
function limitProblems({ of, what, shownBy }: KnownLimit, classes: readonly AttackClass[], results: AttackResults): readonly string[] {
  if (!classes.some(({ name }) => name === of)) return [`known limit of no class: ${of}: ${what}`]
  if (shownBy === undefined) return []
  const shown = attacksOf(shownBy, results)
  return shown.length > 0 && shown.every(({ outcome }) => outcome !== 'not held')
    ? []
    : [`${of}: the known limit is not shown any more: ${what} (${shownBy.file})`]
}
