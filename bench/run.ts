/** `npm run bench`: checks the machine, runs the parts, evaluates the targets, prints and stores the result. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasListeners, installPortkey, serviceIsBuilt } from './contestants.ts'
import { howToInstall, installDebian } from './debian.ts'
import { busyness, readEnvironment } from './environment.ts'
import { NGINX_PACKAGE, nginxVersion } from './nginx.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { PART } from './parts.ts'
import { GIT_LFS_PACKAGE, hasGitLfs, installPython, PYTHON_NAMES } from './python.ts'
import { pageReport, report } from './report.ts'
import { Rig } from './rig.ts'
import { forTerminal, withBlocks } from './tables.ts'
import { judge, type Target } from './targets.ts'

const PAGE = new URL('../docs/performance.md', import.meta.url).pathname
const RESULTS = new URL('./results/', import.meta.url).pathname

async function bench(asked: Options): Promise<number> {
  refuseBusyMachine(asked)
  const options = withWhatIsInstalled(asked)
  const directory = mkdtempSync(join(options.directory, 'svc-bench-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const environment = readEnvironment(directory)
  if (environment.fileSystem.startsWith('tmpfs'))
    say('the data directory lies in memory, so durable numbers mean nothing; give --dir on a disk')
  const rig = new Rig(options, directory, progress)
  for (const part of options.parts) await PART[part](rig)
  rig.generator.stop()
  progress('')
  const targets = judge(rig.samples)
  const { directory: _, ...settings } = options
  const result = { at: new Date().toISOString(), settings, environment, targets, samples: rig.samples }
  keep(result.at, result)
  console.log(options.json ? JSON.stringify(result, undefined, 2) : forTerminal(report(options, environment, rig.samples, targets)))
  if (options.page) writeFileSync(PAGE, withBlocks(readFileSync(PAGE, 'utf8'), pageReport(options, environment, rig.samples, targets)))
  return targets.some((target) => fails(target, options)) ? 1 : 0
}

function fails(target: Target, options: Options): boolean {
  return target.met === false && (target.kind === 'correctness' || !options.quick)
}

function refuseBusyMachine({ force, quick }: Options): void {
  const state = busyness()
  if (state === 'busy' && !force && !quick) throw new Error('the machine is busy (see /proc/loadavg): wait, or measure noise with --force')
  if (state !== 'idle') say('the machine has other work: trust ratios, not absolute numbers')
}

/** Leaves out contestants that cannot be started here, and says how to install them. */
function withWhatIsInstalled(options: Options): Options {
  const names = new Set(options.contestants)
  for (const name of PYTHON_NAMES.filter((each) => names.has(each))) {
    try {
      progress(`installing ${name} where it is missing`)
      installPython(name)
    } catch (error) {
      say(`${name} cannot be installed (${messageOf(error)}): going on without it`)
      names.delete(name)
    }
  }
  if (names.has('svc-2-listeners') && !hasListeners()) names.delete('svc-2-listeners')
  if (names.has('portkey') || names.has('portkey-our-node')) installPortkey()
  if (options.install && nginxVersion() === undefined) installDebian(NGINX_PACKAGE)
  if (names.has('nginx') && nginxVersion() === undefined) {
    say(`nginx is not installed (${howToInstall(NGINX_PACKAGE)}, or --install): going on without it, with a slower upstream`)
    names.delete('nginx')
  }
  if (names.has('reef') && options.install && !hasGitLfs()) installDebian(GIT_LFS_PACKAGE)
  if (names.has('reef') && !hasGitLfs()) {
    say(`reef needs git-lfs (${howToInstall(GIT_LFS_PACKAGE)}, or --install): going on without it`)
    names.delete('reef')
  }
  if ((names.has('svc-memory') || names.has('svc-durable')) && !serviceIsBuilt()) throw new Error('the service is not built: npm run build')
  return { ...options, contestants: options.contestants.filter((name) => names.has(name)) }
}

function keep(at: string, result: object): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, `${at.replaceAll(':', '-')}.json`), `${JSON.stringify(result, undefined, 2)}\n`)
}

/** Rewrites one line on a terminal; prints lines elsewhere. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
  else if (text !== '') say(text)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function say(text: string): void {
  console.error(`bench: ${text}`)
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) console.log(HELP)
  else process.exitCode = await bench(options)
} catch (error) {
  say(messageOf(error))
  process.exitCode = 2
}
process.exit()
