/** Installs what the lockfile asks for, or says in one line why that cannot be. Plain JavaScript for Node 18 and newer, dependencies none. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, delimiter, dirname } from 'node:path'
import { findPinnedNode, isNewEnough } from '../client/bin/launch.mjs'
import { registryProblem } from './registry.mjs'
import { at, NODE_LEAST, run, runForCode, say, tooOld, Unusable } from './run.mjs'

/** Everything by the lockfile's digests, so that what npm has kept is as good as what it would fetch. */
const QUIETLY = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
const STILL_THERE_MILLISECONDS = 30_000
const NO_NETWORK = 'and npm has not kept everything that is needed; see to the network and run the same command again'

/** npm leaves a list of what it installed; it must hold what the lockfile asks for. Optional packages depend on the platform. */
export function isInstalled() {
  const installed = readJson('node_modules/.package-lock.json')?.packages
  if (installed === undefined) return false
  return Object.entries(lockedPackages()).every(([path, entry]) => {
    const found = installed[path]
    if (path === '' || !path.includes('node_modules/')) return true
    return found === undefined ? entry.optional === true || entry.devOptional === true : found.version === entry.version
  })
}

const lockedPackages = () => readJson('package-lock.json')?.packages ?? {}

function readJson(path) {
  return existsSync(at(path)) ? JSON.parse(readFileSync(at(path), 'utf8')) : undefined
}

export async function install() {
  if (isInstalled()) return
  const pinned = pinnedPackage()
  if (pinned === undefined && !isNewEnough(NODE_LEAST)) throw tooOld()
  say('installing dependencies …')
  const beating = setInterval(() => say('still installing dependencies …'), STILL_THERE_MILLISECONDS)
  try {
    const problem = await registryProblem(npm(), environment(), () => say('waiting for the package registry …'))
    if (problem === null) await installWith([], pinned)
    // Without a network there may still be what an earlier installation left.
    else
      await installWith(['--offline'], pinned, 'ignore').catch(() => {
        throw new Unusable(`the package registry cannot be reached (${problem}), ${NO_NETWORK}`)
      })
  } finally {
    clearInterval(beating)
  }
}

/** Name and version of the Node that the lockfile pins for this platform, if it does. */
function pinnedPackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const name = `node-${platform}-${process.arch}`
  const version = lockedPackages()[`node_modules/${name}`]?.version
  return version === undefined ? undefined : `${name}@${version}`
}

/** Development dependencies hold the compiler. npm leaves out packages that do not name the Node it runs on, so an older one is not enough for it. */
async function installWith(options, pinned, stdio = 'inherit') {
  const words = ['ci', '--include=dev', ...QUIETLY, ...options]
  if (pinned === undefined || isNewEnough(NODE_LEAST)) return runNpm(words, { stdio })
  const beside = at(`.dist-node-${process.pid}`)
  try {
    mkdirSync(beside, { recursive: true })
    const alone = ['--prefix', beside, '--no-save', '--no-package-lock', '--ignore-scripts']
    await runNpm(['install', ...alone, ...QUIETLY, ...options, pinned], { stdio, cwd: beside })
    return await runNpm(words, { stdio, node: findPinnedNode(beside) })
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

function runNpm(words, { node, ...options }) {
  const { program, before, shell } = npm(node)
  const runs = options.stdio === 'ignore' ? runSilent : run
  return runs(program, [...before, ...words], { env: environment(node), shell, ...options })
}

async function runSilent(program, args, options) {
  if ((await runForCode(program, args, options)) !== 0) throw new Error('npm failed')
}

/** The one that runs this script, on that Node; else the one on the path, which takes the first Node there. */
function npm(node) {
  const own = process.env.npm_execpath ?? ''
  if (node !== undefined && basename(own) === 'npm-cli.js') return { program: node, before: [own], shell: false }
  return { program: 'npm', before: [], shell: process.platform === 'win32' }
}

/** The pinned Node of this checkout is among what is replaced, so npm must not run on it. */
function environment(node) {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(at('node_modules')))
  return { ...process.env, PATH: [...(node === undefined ? [] : [dirname(node)]), ...path].join(delimiter) }
}
