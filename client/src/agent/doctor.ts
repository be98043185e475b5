/** `doctor`: everything that a session needs, looked at one by one, each with what to do when it is not in order. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Failure } from '../failure.ts'
import type { CatalogRow } from '../nouns.ts'
import { isWaiting, sessionsOf } from './captures.ts'
import { hasCode } from './failure.ts'
import { requireNode } from './install-gate.ts'
import { capturesFolder, commandOf, homeOf } from './places.ts'
import { isOnPath, runProgram, withNode } from './programs.ts'
import { readReleaseFile, unmet } from './release-file.ts'
import { changedFiles, rooted } from './run-folder.ts'
import { serviceOf, type Install } from './service.ts'
import { visible, type Terminal } from './terminal.ts'
import { withoutToken } from './token.ts'
import { parsed } from './usage.ts'

const VERSION_SECONDS_MAX = 30
const SERVICE_SECONDS_MAX = 15

interface Finding {
  readonly name: string
  readonly ok: boolean
  /** It could be better, and works as it is. */
  readonly advice?: true
  readonly text: string
}

/** 0 when everything is in order. */
export async function doctor(install: Install, args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parsed(() => parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false } } }))
  const findings = await findingsOf(install)
  const ok = findings.every((finding) => finding.ok || finding.advice)
  if (values.json) terminal.print(JSON.stringify({ ok, findings }))
  else for (const each of findings) terminal.print(`${markOf(each)}  ${each.name.padEnd(8)}  ${visible(each.text)}`)
  return ok ? 0 : 1
}

const markOf = ({ ok, advice }: Finding): string => (ok ? 'ok' : advice ? '--' : '!!')

async function findingsOf(install: Install): Promise<readonly Finding[]> {
  const rows = await catalogOf(install)
  return [
    nodeFinding(install),
    serviceFinding(install, rows),
    await programFinding(install),
    ...toolFindings(install),
    ...(rows instanceof Failure ? [] : releaseFindings(install, rows)),
    await filesFinding(install),
    await setupFinding(install),
    await reportsFinding(install),
  ]
}

async function catalogOf(install: Install): Promise<readonly CatalogRow[] | Failure> {
  try {
    return await (await serviceOf(install, SERVICE_SECONDS_MAX)).catalog()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

function nodeFinding({ record }: Install): Finding {
  try {
    requireNode({ ...record, files: {} }, process.versions.node)
    return { name: 'node', ok: true, text: process.versions.node }
  } catch (error) {
    if (error instanceof Failure) return { name: 'node', ok: false, text: error.message }
    throw error
  }
}

function serviceFinding({ record: { url, scenario } }: Install, rows: readonly CatalogRow[] | Failure): Finding {
  if (rows instanceof Failure) return { name: 'service', ok: false, text: rows.message }
  return { name: 'service', ok: true, text: `scenario ${scenario} at ${url}` }
}

/** The program may write when it is asked for its version: it is given a root that goes again. */
async function programFinding({ record, env }: Install): Promise<Finding> {
  const { executable, install, client, adapter } = record
  const scratch = await mkdtemp(join(tmpdir(), 'svc-doctor-'))
  try {
    const asked = {
      env: { ...withNode(withoutToken(env), process.execPath), ...rooted(client.env, scratch) },
      timeoutSeconds: VERSION_SECONDS_MAX,
    }
    const { code, output } = await runProgram(executable, ['--version'], asked)
    const ok = code === 0 && output.includes(install.version)
    if (ok) return { name: 'program', ok, text: `${executable} ${install.version}` }
    return { name: 'program', ok, text: `${executable} does not say it is ${install.version}; run the install script of the service again` }
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EACCES', 'ENOEXEC')) throw error
    return {
      name: 'program',
      ok: false,
      text: `${record.binary} for ${commandOf(adapter)} is gone; run the install script of the service again`,
    }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function toolFindings({ record: { client, binary }, env }: Install): readonly Finding[] {
  return client.tools.map(({ command, package: name }) => {
    const ok = isOnPath(command, env)
    return {
      name: 'tool',
      ok,
      advice: true,
      text: ok ? command : `${command} is not on PATH; ${binary} works better with it (package ${name})`,
    }
  })
}

/** Releases that wait for a person are no fault of this machine. */
function releaseFindings({ record: { release_id, content_id, adapter } }: Install, rows: readonly CatalogRow[]): readonly Finding[] {
  const head = rows.find(({ current }) => current)
  const isCurrent = head === undefined || head.release_id === release_id || head.content_id === content_id
  const promoted = new Set(rows.map(({ rollback_target_release_id }) => rollback_target_release_id))
  const held = rows.filter((row) => row.pending && !promoted.has(row.release_id)).map((row) => row.release_id)
  const older = `${release_id} is installed, ${head?.release_id} is served; run '${commandOf(adapter)} update'`
  return [
    { name: 'release', ok: isCurrent, text: isCurrent ? release_id : older },
    { name: 'review', ok: true, text: held.length === 0 ? 'no release waits for review' : `waiting for review: ${held.join(', ')}` },
  ]
}

async function filesFinding({ record }: Install): Promise<Finding> {
  const changed = await changedFiles(record)
  const text = `changed since they were installed: ${changed.join(', ')}; '${commandOf(record.adapter)} update' writes them again`
  return { name: 'files', ok: changed.length === 0, text: changed.length === 0 ? `as installed in ${record.destination}` : text }
}

async function setupFinding({ record }: Install): Promise<Finding> {
  const missing = unmet(record.requires, (await readReleaseFile(record.destination))?.setup ?? []).map(({ name }) => name)
  const text = missing.length === 0 ? 'nothing is missing' : `missing: ${missing.join(', ')}; run '${commandOf(record.adapter)} setup'`
  return { name: 'setup', ok: missing.length === 0, text }
}

async function reportsFinding({ record, env }: Install): Promise<Finding> {
  const waiting = (await sessionsOf(capturesFolder(homeOf(env)), record)).filter(isWaiting).length
  const text = waiting === 0 ? 'nothing waits' : `sessions to report: ${waiting}; '${commandOf(record.adapter)} report --list' shows them`
  return { name: 'reports', ok: true, text }
}
