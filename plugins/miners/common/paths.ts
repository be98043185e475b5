/** What a path in a repository is: a test, code, or something that no task is about. */
import { posix } from 'node:path'

const TEST_FOLDER = /^(?:tests?|__tests__|specs?|testing|testdata|fixtures|__snapshots__)$/i
const TEST_NAME = /(?:[._-](?:test|spec|tests|snap)\.[^.]+$)|(?:^test_.*\.py$)|(?:^conftest\.py$)|(?:(?:Test|Tests|Spec)\.\w+$)/

/** Also what tests need, such as fixtures. */
export const isTest = (path: string): boolean =>
  TEST_NAME.test(posix.basename(path)) ||
  posix
    .dirname(path)
    .split('/')
    .some((folder) => TEST_FOLDER.test(folder))

const LOCK =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|Gemfile\.lock|composer\.lock|flake\.lock)$/
const VENDORED = /(?:^|\/)(?:node_modules|vendor|vendored|third_party|third-party|bower_components|\.yarn)\//
const GENERATED =
  /(?:^|\/)(?:dist|build|out|target|coverage|generated|__generated__|\.next)\/|\.(?:min|generated|pb|g)\.\w+$|\.map$|_pb2\.py$|\.pb\.go$/
const DOCUMENT =
  /\.(?:md|mdx|rst|adoc|txt|png|jpe?g|gif|svg|ico|webp|pdf|woff2?|ttf|mp4|csv)$|(?:^|\/)(?:LICENSE|CHANGELOG|AUTHORS|CODEOWNERS|\.gitignore|\.gitattributes|\.gitmodules)[^/]*$|^docs?\/|^\.(?:github|gitlab|circleci|vscode|idea)\//i

/** Made by programs: never part of a task. */
export const isMade = (path: string): boolean => LOCK.test(posix.basename(path)) || GENERATED.test(path)
/** Other people's code: kept while there is room, since tests may need it. */
export const isVendored = (path: string): boolean => VENDORED.test(path)
export const isCode = (path: string): boolean => !isTest(path) && !isMade(path) && !isVendored(path) && !DOCUMENT.test(path)

const GENERIC: ReadonlySet<string> = new Set(['src', 'lib', 'app', 'pkg', 'internal', 'source', '.'])

/** Snapshots, and what pytest loads before the tests. */
const TEST_AID = /\.snap$|^conftest\.py$/
const ofTest = (path: string): number => {
  const name = posix.basename(path)
  return TEST_NAME.test(name) && !TEST_AID.test(name) ? 2 : /\.\w+$/.test(name) ? 1 : 0
}

/** Of the tests and what they need: the one that says most what is tested. */
export const mainTest = (tests: readonly string[]): string => tests.toSorted((one, other) => ofTest(other) - ofTest(one))[0] ?? ''

/** What a file of code or of tests is about: its name and its folder, without the words that only say that it is code or a test. */
export function moduleOf(path: string): string {
  const folders = posix
    .dirname(path)
    .split('/')
    .filter((folder) => folder !== '.' && !TEST_FOLDER.test(folder))
  const name = posix
    .basename(path)
    .replace(/\.[^.]+$/, '')
    .replace(/[._-](?:test|spec|tests)$/, '')
    .replace(/^test_/, '')
  return [...(folders.some((folder) => !GENERIC.has(folder)) ? folders : []), name || 'tests'].join('/')
}
