/** `doctor`: everything that a session needs, looked at one by one, each with what to do when it is not in order. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { Failure, readOptions, type CatalogRow } from '@svc-ai/client/shared'
import { isWaiting, sessionsOf } from './captures.ts'
import { requireNode } from './install-gate.ts'
import { capturesFolder, commandOf, homeOf } from './places.ts'
import { toolProblem } from './programs.ts'
import { unmetIn } from './release-file.ts'
import { changedFiles } from './run-folder.ts'
import { serviceOf, type Install } from './service.ts'
import type { Terminal } from './terminal.ts'
import { saysVersion } from './vendor.ts'

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
  const values = readOptions(args, { json: { type: 'boolean', default: false } })
  const findings = await findingsOf(install)
  const ok = findings.every((finding) => finding.ok || finding.advice)
  if (values.json) terminal.printJson({ ok, findings })
  else for (const each of findings) terminal.print(`${markOf(each)}  ${each.name.padEnd(8)}  ${showHiddenLine(each.text)}`)
  return ok ? 0 : 1
}

const markOf = ({ ok, advice }: Finding): string => (ok ? 'ok' : advice ? '--' : '!!')

async function findingsOf(install: Install): Promise<readonly Finding[]> {
  const { url, scenario } = install.record
  const rows = await orFailure(async () => (await serviceOf(install, SERVICE_SECONDS_MAX)).catalog())
  return [
    await nodeFinding(install),
    finding('service', rows instanceof Failure && rows.message, `scenario ${scenario} at ${url}`),
    await programFinding(install),
    ...toolFindings(install),
    ...(rows instanceof Failure ? [] : releaseFindings(install, rows)),
    await filesFinding(install),
    await setupFinding(install),
    await reportsFinding(install),
  ]
}

/** A failure is a finding, and the others are made all the same. */
async function orFailure<T>(work: () => T | Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

const finding = (name: string, problem: string | false, text: string): Finding => ({ name, ok: problem === false, text: problem || text })

async function nodeFinding({ record }: Install): Promise<Finding> {
  const result = await orFailure(() => requireNode(record, process.versions.node))
  return finding('node', result instanceof Failure && result.message, process.versions.node)
}

async function programFinding({ record, env }: Install): Promise<Finding> {
  const { executable, install } = record
  const ok = await saysVersion(executable, { ...record, env, node: process.execPath })
  const problem = `${executable} is gone, or does not say it is ${install.version}; run the install script of the service again`
  return finding('program', !ok && problem, `${executable} ${install.version}`)
}

function toolFindings({ record: { client, binary }, env }: Install): readonly Finding[] {
  return client.tools.map((tool) => {
    const problem = toolProblem(tool, binary, env)
    return { name: 'tool', ok: problem === null, advice: true, text: problem ?? tool.command }
  })
}

/** Releases that wait for a person are no fault of this machine. */
function releaseFindings({ record: { release_id, content_id, adapter } }: Install, rows: readonly CatalogRow[]): readonly Finding[] {
  const head = rows.find(({ current }) => current)
  const isCurrent = head === undefined || head.release_id === release_id || head.content_id === content_id
  const promoted = new Set(rows.map(({ rollback_target_release_id }) => rollback_target_release_id))
  const isUnproven = rows.some((row) => row.provisional === true && row.release_id === release_id)
  const held = rows
    .filter((row) => row.pending && row.provisional === undefined && !promoted.has(row.release_id))
    .map((row) => row.release_id)
  const older = `${release_id} is installed, ${head?.release_id} is served; run '${commandOf(adapter)} update'`
  return [
    finding('release', !isCurrent && !isUnproven && older, isUnproven ? `${release_id}, provisional: unproven` : release_id),
    finding(
      'review',
      false,
      held.length === 0 ? 'no release that is shown to this token waits for review' : `waiting for review: ${held.join(', ')}`,
    ),
  ]
}

async function filesFinding({ record }: Install): Promise<Finding> {
  const changed = await changedFiles(record)
  const problem = `changed since they were installed: ${changed.join(', ')}; '${commandOf(record.adapter)} update' writes them again`
  return finding('files', changed.length > 0 && problem, `as installed in ${record.destination}`)
}

async function setupFinding({ record, env }: Install): Promise<Finding> {
  const missing = (await unmetIn(record.destination, record.requires, homeOf(env))).map(({ name }) => name)
  const problem = `missing: ${missing.join(', ')}; run '${commandOf(record.adapter)} setup'`
  return finding('setup', missing.length > 0 && problem, 'nothing is missing')
}

async function reportsFinding({ record, env }: Install): Promise<Finding> {
  const waiting = (await sessionsOf(capturesFolder(homeOf(env)), record)).filter(isWaiting).length
  const text = waiting === 0 ? 'nothing waits' : `sessions to report: ${waiting}; '${commandOf(record.adapter)} report --list' shows them`
  return finding('reports', false, text)
}
