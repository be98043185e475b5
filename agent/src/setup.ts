/** `setup`: what a release needs of this machine, gone through with the person; what they saw done is checked off. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { quoted, ServiceFailure, UsageError, readOptions, type Requires } from '@svc-ai/client/shared'
import { isVariable, keepInEnvFile, readEnvFile } from './env-file.ts'
import { Stop } from './failure.ts'
import { NOT_SHOWN } from './held.ts'
import { itemLine } from './install-gate.ts'
import { commandOf, homeOf } from './places.ts'
import { isOnPath, isProgramName, runProgram, withoutNearPrograms } from './programs.ts'
import { readReleaseFile, unmetIn, withCheckOffs, writeReleaseFile, type CheckOff } from './release-file.ts'
import { serviceOf, type Install } from './service.ts'
import type { Terminal } from './terminal.ts'
import { withoutToken } from './token.ts'
import { trustedManifest } from './trust.ts'

const CHECK_SECONDS_MAX = 60
const SECRET = /TOKEN|KEY|SECRET|PASSWORD/i

type Options = ReturnType<typeof parse>

/** 0 when all is met, 1 when not. */
export async function setup(install: Install, argv: readonly string[], terminal: Terminal): Promise<number> {
  const options = parse(argv)
  const target = await releaseOf(install, options.release, terminal)
  if (target === null) throw new UsageError(`--release: ${NOT_SHOWN}`)
  const stranger = options.mark.find((name) => !target.requires.some((item) => item.name === name))
  if (stranger !== undefined) throw new UsageError(`--mark: this release needs nothing called ${showHiddenLine(stranger)}`)
  await checkOff(
    install,
    target.requires.filter((item) => options.mark.includes(item.name)),
  )
  const open = await unmetIn(install.record.destination, target.requires, homeOf(install.env))
  if (isToGoThrough(options, terminal)) for (const item of open) await goThrough(install, item, options, terminal)
  if (options.runChecks !== null) await runSeen(install, open, options.runChecks, terminal)
  return tell(install, target, options, terminal)
}

/** A caller that marks by name, runs the checks it has seen, or wants JSON, is a program: it is asked nothing. */
const isToGoThrough = ({ yes, mark, json, runChecks }: Options, { interactive }: Terminal): boolean =>
  !json && runChecks === null && (yes || (interactive && mark.length === 0))

function parse(argv: readonly string[]) {
  const { 'run-checks': runChecks = null, ...values } = readOptions(argv, {
    yes: { type: 'boolean', default: false },
    mark: { type: 'string', multiple: true, default: [] },
    release: { type: 'string' },
    'run-checks': { type: 'string' },
    json: { type: 'boolean', default: false },
  })
  return { ...values, runChecks }
}

interface Target {
  readonly release_id: string
  readonly requires: readonly Requires[]
}

/** The one that is served when none is named; null when the service does not know it. */
async function releaseOf(install: Install, release: string | undefined, terminal: Terminal): Promise<Target | null> {
  try {
    return (await trustedManifest(install, await serviceOf(install), { release }, terminal)).manifest
  } catch (error) {
    if (release !== undefined && error instanceof ServiceFailure && error.status === 404) return null
    throw error
  }
}

/** Each is on the disk before the next is asked about. What is kept is read again each time: an install may have written it meanwhile. */
async function checkOff({ record: { destination }, env }: Install, items: readonly Requires[]): Promise<void> {
  if (items.length === 0) return
  const release = await readReleaseFile(destination, homeOf(env))
  if (release === null || !existsSync(destination))
    throw new Stop(`${destination} holds no harness any more; run the install script of the service again`)
  const done = items.map(({ name, check = null }): CheckOff => ({ name, checked_at: Date.now() / 1000, check }))
  await writeReleaseFile(destination, { ...release, setup: withCheckOffs(release.setup, done) }, homeOf(env))
}

async function goThrough(install: Install, item: Requires, { yes }: Options, terminal: Terminal): Promise<void> {
  terminal.print(itemLine(item))
  if (await isMet(install, item, yes, terminal)) await checkOff(install, [item])
}

async function isMet(install: Install, item: Requires, yes: boolean, terminal: Terminal): Promise<boolean> {
  if (item.kind === 'env') return hasValue(install, item, terminal)
  return item.kind === 'binary' ? hasProgram(install, item, terminal) : isSatisfied(install, item, yes, terminal)
}

/** Looked up and never run. */
function hasProgram({ env }: Install, { name, check: program = name }: Requires, terminal: Terminal): boolean {
  if (!isProgramName(program)) return said(terminal, `${showHiddenLine(program)} cannot be the name of a program`)
  return isOnPath(program, withoutNearPrograms(env)) || said(terminal, `${program} is not on the PATH; install it, then run this again`)
}

/** A value of the shell's own counts; else one is asked for and kept where sessions find it. */
async function hasValue({ folder, env }: Install, { name, check }: Requires, terminal: Terminal): Promise<boolean> {
  const variable = check ?? name
  if (!isVariable(variable)) return said(terminal, `${showHiddenLine(variable)} cannot be the name of a variable`)
  const known = env[variable] ?? (await readEnvFile(folder))[variable] ?? ''
  if (known !== '') return true
  if (!terminal.interactive) return said(terminal, `${variable} is not set`)
  const value = await terminal.ask(`  ${variable}: `, { hidden: SECRET.test(variable) })
  if (value === '') return said(terminal, `${variable} was left unset`)
  await keepInEnvFile(folder, variable, value)
  return true
}

/** The check is the service's word: it runs only after the person saw it whole and agreed. `--yes` answers what the person alone can know. */
async function isSatisfied(install: Install, { check }: Requires, yes: boolean, terminal: Terminal): Promise<boolean> {
  if (check === undefined) return yes || terminal.confirm('  is this done?', false)
  terminal.print(`  check: ${showHiddenLine(check)}`)
  if (!terminal.interactive || yes) return said(terminal, 'the check was not run: --yes agrees to nothing that was not seen')
  return (await terminal.confirm('  run it on this machine?', false)) && passes(install, check, terminal)
}

async function passes({ folder, env }: Install, check: string, terminal: Terminal): Promise<boolean> {
  const values = withoutToken({ ...(await readEnvFile(folder)), ...env })
  const { code, output } = await runProgram('sh', ['-c', check], { env: values, timeoutSeconds: CHECK_SECONDS_MAX })
  if (code === 0) return true
  if (output.trim() !== '') terminal.warn(output.trimEnd())
  return said(
    terminal,
    code === null ? `the check was not done within ${CHECK_SECONDS_MAX} seconds` : `the check failed with status ${code}`,
  )
}

/** The digest is of the list as it was printed: checks that changed since were not seen, and none of them runs. */
async function runSeen(install: Install, open: readonly Requires[], digest: string, terminal: Terminal): Promise<void> {
  const checks = checksIn(open)
  if (checks.length > 0 && digest !== digestOf(checks))
    throw new UsageError(
      "--run-checks: these are not the checks that were listed under this digest; run 'setup' to see them as they are now",
    )
  for (const item of checks) {
    terminal.print(itemLine(item))
    terminal.print(`  check: ${showHiddenLine(item.check)}`)
    if (await passes(install, item.check, terminal)) await checkOff(install, [item])
  }
}

type Checked = Requires & Required<Pick<Requires, 'check'>>

const checksIn = (items: readonly Requires[]): readonly Checked[] =>
  items.flatMap((item) =>
    item.kind === 'env' || item.kind === 'binary' || item.check === undefined ? [] : [{ ...item, check: item.check }],
  )

const digestOf = (checks: readonly Checked[]): string =>
  createHash('sha256')
    .update(JSON.stringify(checks.map(({ name, check }) => [name, check])))
    .digest('hex')

function said(terminal: Terminal, problem: string): false {
  terminal.warn(`  ${problem}`)
  return false
}

async function tell(install: Install, { release_id, requires }: Target, options: Options, terminal: Terminal): Promise<number> {
  const open = await unmetIn(install.record.destination, requires, homeOf(install.env))
  const checks = checksIn(open)
  if (options.json) {
    const items = requires.map((item) => ({ ...item, met: !open.includes(item) }))
    terminal.printJson({ release_id, met: open.length === 0, items, ...(checks.length > 0 && { checks_digest: digestOf(checks) }) })
    return open.length === 0 ? 0 : 1
  }
  terminal.print(
    open.length === 0
      ? `all that release ${showHiddenLine(release_id)} needs is set up`
      : `release ${showHiddenLine(release_id)} still needs:`,
  )
  for (const item of open) terminal.print(`  ${itemLine(item)}`)
  if (checks.length > 0) tellChecks(commandOf(install.record.adapter), checks, options.release, terminal)
  return open.length === 0 ? 0 : 1
}

/** Where nobody can be asked: what would run, and the words that agree to exactly that. */
function tellChecks(command: string, checks: readonly Checked[], release: string | undefined, terminal: Terminal): void {
  terminal.print('checks that would run on this machine:')
  for (const { name, check } of checks) terminal.print(`  ${name}: ${showHiddenLine(check)}`)
  const named = release === undefined ? '' : ` --release ${quoted(showHiddenLine(release))}`
  terminal.print(`to run exactly these: ${command} setup${named} --run-checks ${digestOf(checks)}`)
}
