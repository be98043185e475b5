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
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPinnedNode, isNewEnough, launch } from '../client/bin/launch.mjs'
import { alone } from './alone.mjs'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
const at = (...parts) => join(ROOT, ...parts)

/** The oldest Node that the service runs on. */
export const NODE_LEAST = '22.19'
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

export function say(text) {
  process.stderr.write(`${text}\n`)
}

/** Ends the script with a line instead of a stack; what failed has already said why. */
export function runScript(script) {
  script().catch((error) => {
    say(error.message)
    process.exitCode ||= 1
  })
}

/** Installs and builds what is not there yet. A checkout that has everything is not written to. */
export async function prepare() {
  if (isInstalled() && isBuilt(inputStamp())) return
  await alone(at(PREPARING), installAndBuild, (pid) => say(`waiting for process ${pid}, which installs or builds here …`))
}

async function installAndBuild() {
  await install()
  await build()
}

// ── installing ───────────────────────────────────────────────────────────────────────────────────

async function install() {
  if (isInstalled()) return
  say('installing dependencies …')
  // The pinned Node is among what is replaced, so npm must not run on it; development dependencies hold the compiler.
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(at('node_modules')))
  const env = { ...process.env, PATH: path.join(delimiter) }
  await run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], { env, shell: process.platform === 'win32' })
}

/** npm leaves a list of what it installed; it must hold what the lockfile asks for. Optional packages depend on the platform. */
function isInstalled() {
  const installed = readJson('node_modules/.package-lock.json')?.packages
  const wanted = readJson('package-lock.json')?.packages ?? {}
  if (installed === undefined) return false
  return Object.entries(wanted).every(([path, entry]) => {
    const found = installed[path]
    if (path === '' || !path.includes('node_modules/')) return true
    return found === undefined ? entry.optional === true || entry.devOptional === true : found.version === entry.version
  })
}

function readJson(path) {
  return existsSync(at(path)) ? JSON.parse(readFileSync(at(path), 'utf8')) : undefined
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

// ── running ──────────────────────────────────────────────────────────────────────────────────────

/** The pinned Node first, so that everyone runs on the same one; this one when none is pinned for the platform. */
export function pinnedNode() {
  const pinned = findPinnedNode(ROOT)
  if (pinned !== null) return pinned
  if (isNewEnough(NODE_LEAST)) return process.execPath
  throw new Error(`Node ${process.versions.node} is too old and none is pinned for this platform; install Node ${NODE_LEAST} or newer`)
}

/** Runs a program in the root with this terminal. Throws when it fails. */
async function run(program, args, options = {}) {
  const code = await runForCode(program, args, options)
  if (code !== 0) throw new Error(`failed: ${[program, ...args].map((part) => relative(ROOT, part) || part).join(' ')}`)
}

/** Answers the exit code; a program that is `tied` ends with this process, however that ends. */
export function runForCode(program, args, options = {}) {
  return launch(program, args, { cwd: ROOT, ofNpm: () => process.env.npm_lifecycle_event !== undefined, ...options })
}
