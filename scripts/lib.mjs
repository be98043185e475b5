/** What the npm scripts share: installing, building and running on the pinned Node. Plain JavaScript for Node 18 and newer, dependencies none. */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { alone } from './alone.mjs'
import { assets, inputStamp, PACKAGES } from './inputs.mjs'
import { install, isInstalled } from './install.mjs'
import { at, pinnedNode, run, say } from './run.mjs'

export { NODE_LEAST, pinnedNode, ROOT, runForCode, runScript, say } from './run.mjs'

/** There while a process installs or builds; outside of what that replaces. */
const PREPARING = '.preparing'
/** Kept outside dist, which is published as it is. */
const STAMP = 'node_modules/.cache/svc-built-from'
const TYPES_STAMP = 'node_modules/.cache/svc-types-from'
/** What a build replaces. */
const FOLDERS = [...PACKAGES.map((name) => `${name}/dist`), 'dist']
/** The sources look for the console where the compiled code does: two folders up from the module that serves it. */
const CONSOLE = 'console/dist'
const BUILT = ['dist/src/cli/index.js', 'agent/dist/wrapper.mjs', 'native/dist/native.mjs', `${CONSOLE}/index.html`, 'dist/site/index.html']

/** Installs and builds what is not there yet. A checkout that has everything is not written to. */
export async function prepare() {
  if (isInstalled() && isBuilt(inputStamp())) return
  await alone(at(PREPARING), installAndBuild, tellHolder)
}

/** The same with declarations of types, which packages carry and nothing here needs. */
export async function prepareToPublish() {
  await prepare()
  await alone(at(PREPARING), declareTypes, tellHolder)
}

const tellHolder = (pid) => say(`waiting for process ${pid}, which installs or builds here …`)

async function installAndBuild() {
  await install()
  await build()
}

/** Compiles beside and renames, so that a build that is stopped or fails leaves the last good one. */
async function build() {
  const stamp = inputStamp()
  if (isBuilt(stamp)) return
  say('building …')
  const beside = at(`.dist-${process.pid}`)
  try {
    await run(pinnedNode(), [at('scripts', 'compile.mjs'), beside])
    for (const file of assets()) copyTo(file, join(beside, 'dist'))
    rmSync(at(STAMP), { force: true })
    for (const folder of FOLDERS) {
      rmSync(at(folder), { recursive: true, force: true })
      renameSync(join(beside, folder), at(folder))
    }
    rmSync(at(CONSOLE), { recursive: true, force: true })
    cpSync(at('dist', CONSOLE), at(CONSOLE), { recursive: true })
    writeStamp(STAMP, stamp)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

/** The packages first, in order: each one's declarations are made from those of the packages before it. */
async function declareTypes() {
  const stamp = inputStamp()
  if (isStamped(TYPES_STAMP, stamp) && existsSync(at('dist/src/contract/index.d.ts'))) return
  for (const project of [...PACKAGES.map((name) => `${name}/tsconfig.build.json`), 'tsconfig.build.json'])
    await run(pinnedNode(), [at('node_modules', 'typescript', 'bin', 'tsc'), '-p', project])
  writeStamp(TYPES_STAMP, stamp)
}

const isBuilt = (stamp) => BUILT.every((file) => existsSync(at(file))) && isStamped(STAMP, stamp)

const isStamped = (file, stamp) => existsSync(at(file)) && readFileSync(at(file), 'utf8') === stamp

function writeStamp(file, stamp) {
  mkdirSync(dirname(at(file)), { recursive: true })
  writeFileSync(at(file), stamp)
}

function copyTo(file, folder) {
  const target = join(folder, file)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(at(file), target)
}
