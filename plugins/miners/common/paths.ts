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

/** The folder that a test is about, or its own name where that folder says nothing. */
export function moduleOf(test: string): string {
  const folders = posix
    .dirname(test)
    .split('/')
    .filter((folder) => !TEST_FOLDER.test(folder))
  if (folders.some((folder) => !GENERIC.has(folder))) return folders.filter((folder) => folder !== '.').join('/')
  return (
    posix
      .basename(test)
      .replace(/\.[^.]+$/, '')
      .replace(/[._-](?:test|spec|tests)$/, '')
      .replace(/^test_/, '') || 'tests'
  )
}
