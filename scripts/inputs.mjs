/** What a build is made from: its files, and one digest of them all. Plain JavaScript for Node 18 and newer, dependencies none. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { at, ROOT } from './run.mjs'

/** Packages that the service depends on, each after those it depends on itself. */
export const PACKAGES = ['client', 'agent', 'native']
const SOURCES = [
  'src',
  'plugins',
  'conformance',
  ...PACKAGES.map((name) => `${name}/src`),
  'console',
  'trainer',
  'site',
  'docs',
  'examples',
]
const OTHERS = [
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  ...PACKAGES.map((name) => `${name}/tsconfig.build.json`),
  'scripts/lib.mjs',
  'scripts/compile.mjs',
  'scripts/bundle-service.mjs',
  'package.json',
  ...['README', 'ARCHITECTURE', 'CONTRIBUTING', 'AGENTS', 'CHANGELOG'].map((name) => `${name}.md`),
]
const ASSET =
  /\.(sql|sh|md|py)$|[\\/]entries[\\/][^\\/]+\.mjs$|[\\/]seed[\\/][^\\/]+\.ts$|[\\/](package-lock|tasks)\.json$|[\\/]welcome[\\/]svc\.yaml$/

/** What compiled code reads beside modules. */
export const assets = () => ['src', 'plugins', 'trainer'].flatMap(filesUnder).filter((file) => ASSET.test(file))

/** One digest of every input's name and content. */
export function inputStamp() {
  const digest = createHash('sha256')
  const files = SOURCES.flatMap(filesUnder).concat(OTHERS.filter((file) => existsSync(at(file))))
  for (const file of files) digest.update(`${file}\0`).update(readFileSync(at(file)))
  return digest.digest('hex')
}

/** Paths from the root, sorted; tests are no input of a build. @returns {string[]} */
export function filesUnder(folder) {
  if (!existsSync(at(folder))) return []
  const entries = readdirSync(at(folder), { withFileTypes: true }).filter(
    ({ name }) => !['node_modules', 'dist', '__pycache__'].includes(name),
  )
  return entries
    .flatMap((entry) => {
      const path = relative(ROOT, at(folder, entry.name))
      return entry.isDirectory() ? filesUnder(path) : [path]
    })
    .filter((path) => !path.endsWith('.test.ts'))
    .sort()
}
