/** `setup`: what a release needs of this machine, gone through with the person; what they saw done is checked off in the harness's folder. */
import { ServiceFailure, UsageError, readOptions, type Requires } from '@svc-ai/client/shared'
import { isVariable, keepInEnvFile, readEnvFile } from './env-file.ts'
import { Stop } from './failure.ts'
import { itemLine } from './install-gate.ts'
import { runProgram } from './programs.ts'
import { readReleaseFile, unmetIn, withCheckOffs, writeReleaseFile, type CheckOff } from './release-file.ts'
import { serviceOf, type Install } from './service.ts'
import { visible, type Terminal } from './terminal.ts'
import { withoutToken } from './token.ts'
import { trustedManifest } from './trust.ts'

const CHECK_SECONDS_MAX = 60
const SECRET = /TOKEN|KEY|SECRET|PASSWORD/i

type Options = ReturnType<typeof parse>

/** 0 when all is met, 1 when not. */
export async function setup(install: Install, argv: readonly string[], terminal: Terminal): Promise<number> {
  const options = parse(argv)
  const target = await releaseOf(install, options.release, terminal)
  if (target === null) throw new UsageError('--release: the service has no such release')
  const stranger = options.mark.find((name) => !target.requires.some((item) => item.name === name))
  if (stranger !== undefined) throw new UsageError(`--mark: this release needs nothing called ${visible(stranger)}`)
  await checkOff(
    install,
    target.requires.filter((item) => options.mark.includes(item.name)),
  )
  const open = await unmetIn(install.record.destination, target.requires)
  if (isToGoThrough(options, terminal)) for (const item of open) await goThrough(install, item, options, terminal)
  return tell(install, target, options, terminal)
}

/** A caller that marks by name, or wants JSON, is a program: it is asked nothing. */
const isToGoThrough = ({ yes, mark, json }: Options, { interactive }: Terminal): boolean =>
  !json && (yes || (interactive && mark.length === 0))

const parse = (argv: readonly string[]) =>
  readOptions(argv, {
    yes: { type: 'boolean', default: false },
    mark: { type: 'string', multiple: true, default: [] },
    release: { type: 'string' },
    json: { type: 'boolean', default: false },
  })

interface Target {
  readonly release_id: string
  readonly requires: readonly Requires[]
}

/** The one that is served when none is named; null when the service does not know it. */
async function releaseOf(install: Install, release: string | undefined, terminal: Terminal): Promise<Target | null> {
  try {
    return (await trustedManifest(install, await serviceOf(install), release, terminal)).manifest
  } catch (error) {
    if (release !== undefined && error instanceof ServiceFailure && error.status === 404) return null
    throw error
  }
}

/** Each is on the disk before the next is asked about. The file is read again each time: an install may have written it meanwhile. */
async function checkOff({ record: { destination } }: Install, items: readonly Requires[]): Promise<void> {
  if (items.length === 0) return
  const release = await readReleaseFile(destination)
  if (release === null) throw new Stop(`${destination} holds no harness any more; run the install script of the service again`)
  const done = items.map(({ name, check = null }): CheckOff => ({ name, checked_at: Date.now() / 1000, check }))
  await writeReleaseFile(destination, { ...release, setup: withCheckOffs(release.setup, done) })
}

async function goThrough(install: Install, item: Requires, { yes }: Options, terminal: Terminal): Promise<void> {
  terminal.print(itemLine(item))
  const agreed = (question: string, byDefault: boolean): Promise<boolean> =>
    yes ? Promise.resolve(true) : terminal.confirm(`  ${question}`, byDefault)
  const isMet = item.kind === 'env' ? await hasValue(install, item, terminal) : await isSatisfied(install, item, agreed, terminal)
  if (isMet) await checkOff(install, [item])
}

/** A value of the shell's own counts; else one is asked for and kept where sessions find it. */
async function hasValue({ folder, env }: Install, { name, check }: Requires, terminal: Terminal): Promise<boolean> {
  const variable = check ?? name
  if (!isVariable(variable)) return said(terminal, `${visible(variable)} cannot be the name of a variable`)
  const known = env[variable] ?? (await readEnvFile(folder))[variable] ?? ''
  if (known !== '') return true
  if (!terminal.interactive) return said(terminal, `${variable} is not set`)
  const value = await terminal.ask(`  ${variable}: `, { hidden: SECRET.test(variable) })
  if (value === '') return said(terminal, `${variable} was left unset`)
  await keepInEnvFile(folder, variable, value)
  return true
}

type Agreed = (question: string, byDefault: boolean) => Promise<boolean>

/** The check is the service's word: it runs only after the person saw it whole and agreed. */
async function isSatisfied({ folder, env }: Install, { check }: Requires, agreed: Agreed, terminal: Terminal): Promise<boolean> {
  if (check === undefined) return agreed('is this done?', false)
  terminal.print(`  check: ${visible(check)}`)
  if (!(await agreed('run it?', true))) return false
  const values = withoutToken({ ...(await readEnvFile(folder)), ...env })
  const { code, output } = await runProgram('sh', ['-c', check], { env: values, timeoutSeconds: CHECK_SECONDS_MAX })
  if (code === 0) return true
  if (output.trim() !== '') terminal.warn(output.trimEnd())
  return said(
    terminal,
    code === null ? `the check was not done within ${CHECK_SECONDS_MAX} seconds` : `the check failed with status ${code}`,
  )
}

function said(terminal: Terminal, problem: string): false {
  terminal.warn(`  ${problem}`)
  return false
}

async function tell(install: Install, { release_id, requires }: Target, { json }: Options, terminal: Terminal): Promise<number> {
  const open = await unmetIn(install.record.destination, requires)
  if (json) {
    const items = requires.map((item) => ({ ...item, met: !open.includes(item) }))
    terminal.print(JSON.stringify({ release_id, met: open.length === 0, items }))
    return open.length === 0 ? 0 : 1
  }
  terminal.print(
    open.length === 0 ? `all that release ${visible(release_id)} needs is set up` : `release ${visible(release_id)} still needs:`,
  )
  for (const item of open) terminal.print(`  ${itemLine(item)}`)
  return open.length === 0 ? 0 : 1
}
