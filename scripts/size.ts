/** `npm run size`: how much there is of the project, beside what is wanted; `--json` for programs. Fails where more comments begin without their subject than before. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { allKeys } from '../src/config/index.ts'

const SOURCE = /\.(?:ts|tsx|mjs|py|css|sh)$/
const TESTS = /\.test\.tsx?$|^test\/|\/testing\/|(?:^|\/)testing\.ts$|^trainer\/tests\//
const PRODUCT = /^(?:bin|src|plugins|client|agent|native|console|trainer)\//
const GENERATED = /generated/
/** A user reads these; the others are for those who work on the project or are made from the code. */
const FOR_USERS = /^(?:README\.md|docs\/(?!decisions\/|conformance\.md|extend\/signatures\.md).*\.md)$/
const PAGE_WORDS_MAX = 3000
/** Such a comment is understood at the second reading. The number may only fall. */
const PUZZLE = /^\s*(?:\/\/|\/\*\*|\*|#) (?:What|Of|Who|By|Where|One|As|For|How) /gm
const PUZZLES_MAX = 2656

const listed = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean)
const sources = listed.filter((path) => SOURCE.test(path) && !GENERATED.test(path))
const tests = sources.filter((path) => TESTS.test(path))
const written = sources.filter((path) => !TESTS.test(path))
const pages = listed.filter((path) => FOR_USERS.test(path))

const textOf = (path: string): string => readFileSync(path, 'utf8')
const sum = (paths: readonly string[], count: (text: string) => number): number =>
  paths.reduce((total, path) => total + count(textOf(path)), 0)
const lines = (text: string): number => text.split('\n').length - 1
const words = (text: string): number => text.split(/\s+/).filter(Boolean).length
const puzzles = (text: string): number => text.match(PUZZLE)?.length ?? 0

const unclearComments = sum(sources, puzzles)
const scripts: unknown = JSON.parse(textOf('package.json')).scripts
const sizes = [
  {
    what: 'lines of product source',
    count: sum(
      written.filter((path) => PRODUCT.test(path)),
      lines,
    ),
    wanted: 100_000,
  },
  { what: 'lines of all source', count: sum(written, lines), wanted: 125_000 },
  { what: 'lines of tests', count: sum(tests, lines), wanted: 100_000 },
  { what: 'rooms in src', count: readdirSync('src').filter((name) => !/test/.test(name)).length, wanted: 24 },
  { what: 'documented settings', count: allKeys().length, wanted: 220 },
  { what: 'npm scripts', count: Object.keys(Object(scripts)).length, wanted: 40 },
  { what: 'words for users', count: sum(pages, words), wanted: 60_000 },
  { what: `pages above ${PAGE_WORDS_MAX} words`, count: pages.filter((path) => words(textOf(path)) > PAGE_WORDS_MAX).length, wanted: 0 },
  { what: 'comments that do not begin with their subject', count: unclearComments, wanted: 300 },
]

if (process.argv.includes('--json')) console.log(JSON.stringify(sizes, null, 2))
else for (const { what, count, wanted } of sizes) console.log(`${what.padEnd(48)}${`${count}`.padStart(8)}   at most ${wanted} wanted`)

if (unclearComments > PUZZLES_MAX) {
  console.error(
    `${unclearComments} comments do not begin with their subject, and ${PUZZLES_MAX} are let through; begin with who or what does it`,
  )
  process.exitCode = 1
}
