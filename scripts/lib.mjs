/** What the npm scripts share: installing, building and running on the pinned Node. Plain JavaScript for Node 18 and newer, dependencies none. */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { alone } from './alone.mjs'
import { install, isInstalled } from './install.mjs'
import { at, pinnedNode, ROOT, run, say } from './run.mjs'

export { NODE_LEAST, pinnedNode, ROOT, runForCode, runScript, say } from './run.mjs'

/** Where TypeScript is compiled from, and what else the compiled code reads. */
const SOURCES = ['src', 'plugins', 'conformance', 'client/src', 'console', 'trainer']
const BUILD_INPUTS = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'client/tsconfig.build.json', 'scripts/lib.mjs']
const ASSET =
  /\.(sql|sh|md|py)$|[\\/]entries[\\/][^\\/]+\.mjs$|[\\/]seed[\\/][^\\/]+\.ts$|[\\/](package-lock|tasks)\.json$|[\\/]welcome[\\/]svc\.yaml$/
/** There while somebody installs or builds; outside of what that replaces. */
const PREPARING = '.preparing'
/** Kept outside dist, which is published as it is. */
const STAMP = 'node_modules/.cache/svc-built-from'
/** The program that installs harnesses and runs agents: one file that install scripts carry. */
const WRAPPER = 'client/dist/wrapper.mjs'
/** The native agent: one file that episodes are given to read. */
const NATIVE = 'client/dist/native.mjs'
/** The web console. The sources look for it where the compiled code does: two folders up from whoever serves it. */
const CONSOLE = 'console/dist'
const BUILT = ['dist/src/cli/index.js', WRAPPER, NATIVE, `${CONSOLE}/index.html`]

/** Installs and builds what is not there yet. A checkout that has everything is not written to. */
export async function prepare() {
  if (isInstalled() && isBuilt(inputStamp())) return
  await alone(at(PREPARING), installAndBuild, (pid) => say(`waiting for process ${pid}, which installs or builds here …`))
}

async function installAndBuild() {
  await install()
  await build()
}

// ── building ─────────────────────────────────────────────────────────────────────────────────────

/** Compiles beside and renames, so that a build that is stopped or fails leaves the last good one. */
async function build() {
  const stamp = inputStamp()
  if (isBuilt(stamp)) return
  say('building …')
  const beside = at(`.dist-${process.pid}`)
  try {
    // The client first: the service is compiled against its types, and carries the wrapper.
    await compile(['-p', 'client/tsconfig.build.json'])
    await bundle('client/src/agent/main.ts', join(beside, 'wrapper.mjs'))
    renameSync(join(beside, 'wrapper.mjs'), at(WRAPPER))
    await bundle('client/src/native/main.ts', join(beside, 'native.mjs'))
    renameSync(join(beside, 'native.mjs'), at(NATIVE))
    await compile(['-p', 'tsconfig.build.json', '--outDir', beside])
    await bundleConsole(join(beside, CONSOLE))
    for (const file of ['src', 'plugins', 'trainer'].flatMap(filesUnder)) if (ASSET.test(file)) copyTo(file, beside)
    rmSync(at('dist'), { recursive: true, force: true })
    renameSync(beside, at('dist'))
    rmSync(at(CONSOLE), { recursive: true, force: true })
    cpSync(at('dist', CONSOLE), at(CONSOLE), { recursive: true })
    mkdirSync(dirname(at(STAMP)), { recursive: true })
    writeFileSync(at(STAMP), stamp)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

const isBuilt = (stamp) => [...BUILT, STAMP].every((file) => existsSync(at(file))) && readFileSync(at(STAMP), 'utf8') === stamp

/** What was compiled, as one digest of every input's name and content. */
function inputStamp() {
  const digest = createHash('sha256')
  const files = SOURCES.flatMap((folder) => filesUnder(folder)).concat(BUILD_INPUTS.filter((file) => existsSync(at(file))))
  for (const file of files) digest.update(`${file}\0`).update(readFileSync(at(file)))
  return digest.digest('hex')
}

function compile(args) {
  return run(pinnedNode(), [at('node_modules', 'typescript', 'bin', 'tsc'), ...args])
}

/** Readable, since people run it from a pipe, and in a syntax that the oldest Node it meets can read. */
function bundle(entry, file) {
  const options = ['--format', 'esm', '--platform', 'node', '--transform.target', 'node20']
  const stdio = ['ignore', 'ignore', 'inherit']
  return run(pinnedNode(), [at('node_modules', 'rolldown', 'bin', 'cli.mjs'), entry, '--file', file, ...options], { stdio })
}

function bundleConsole(folder) {
  const options = ['build', '-c', 'console/vite.config.ts', '--outDir', folder, '--emptyOutDir']
  return run(pinnedNode(), [at('node_modules', 'vite', 'bin', 'vite.js'), ...options])
}

function copyTo(file, folder) {
  const target = join(folder, file)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(at(file), target)
}

/** Paths from the root, sorted; tests are no input of a build. @returns {string[]} */
function filesUnder(folder) {
  if (!existsSync(at(folder))) return []
  const names = readdirSync(at(folder)).filter((name) => !['node_modules', 'dist', '__pycache__'].includes(name))
  return names
    .map((name) => at(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesUnder(relative(ROOT, path)) : [relative(ROOT, path)]))
    .filter((path) => !path.endsWith('.test.ts'))
    .sort()
}
