/** `svc doctor`: checks everything a service needs to start, and names each problem with its fix. */
import { ConfigProblem, type LoadedConfig } from '../config/index.ts'
import { withoutSecrets } from '../kit/index.ts'
import { loadFor } from './config.ts'
import {
  checkBucket,
  checkCertificate,
  checkDirectories,
  checkDisk,
  checkGit,
  checkNode,
  checkPort,
  checkSandbox,
  checkSignIn,
  checkSqlite,
  checkStore,
  checkToken,
} from './doctor-machine.ts'
import { findingsOfParts, type PartFound } from './doctor-parts.ts'
import { checkUpstream } from './doctor-upstream.ts'
import { checkWebhooks } from './doctor-webhooks.ts'
import { explain, type Finding } from './explain.ts'
import { paint, jsonText, oneLine } from './screen/text.ts'
import { EXIT, type ConfigOptions, type Surroundings } from './surroundings.ts'

/** Exit code 2 for a problem. Warnings leave it 0, so that `svc doctor && svc serve` continues. */
export async function doctor(options: ConfigOptions, surroundings: Surroundings): Promise<number> {
  const findings = [...checkMachine(), await checkGit(), ...(await checkConfigured(options, surroundings))].map(cleaned)
  surroundings.out(options.json === true ? jsonText({ findings }, 2) : table(findings, surroundings))
  return findings.some(({ state }) => state === 'problem') ? EXIT.misconfigured : EXIT.fine
}

/** Findings quote plug-ins, upstreams and the configuration. */
const cleaned = (finding: Finding): Finding => ({
  ...finding,
  found: withoutSecrets(finding.found),
  ...(finding.fix === undefined ? {} : { fix: withoutSecrets(finding.fix) }),
})

const checkMachine = (): readonly Finding[] => [checkNode(process.versions), checkSqlite(process.versions)]

async function checkConfigured(options: ConfigOptions, surroundings: Surroundings): Promise<readonly Finding[]> {
  const loaded = await loadOrFindings(options, surroundings)
  if ('findings' in loaded) return loaded.findings
  const parts = await surroundings.parts(loaded)
  const read: Finding = { check: 'configuration', state: 'ok', found: options.config ?? 'no file: defaults, environment and command line' }
  const asked = [
    checkDirectories(loaded),
    checkDisk(loaded),
    checkPort(loaded),
    checkCertificate(loaded, surroundings),
    isBroken(parts, `store ${loaded.config.storage.record_backend}`) ? Promise.resolve([]) : checkStore(loaded, surroundings),
    checkBucket(loaded, surroundings),
    checkSandbox(loaded),
    checkSignIn(loaded),
    checkWebhooks(loaded),
    checkUpstream(
      loaded,
      parts.some(({ asksModels }) => asksModels),
    ),
  ]
  return [read, checkToken(loaded), ...findingsOfParts(parts), ...(await Promise.all(asked)).flat()]
}

const isBroken = (parts: readonly PartFound[], name: string): boolean =>
  parts.some(({ part, problems }) => part === name && problems.length > 0)

async function loadOrFindings(
  options: ConfigOptions,
  surroundings: Surroundings,
): Promise<LoadedConfig | { findings: readonly Finding[] }> {
  try {
    return await loadFor(options, surroundings)
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error
    return { findings: explain(error, null).map((words) => ({ check: 'configuration', state: 'problem', ...words })) }
  }
}

const MARK = { ok: 'ok', warning: 'warning', problem: 'PROBLEM' } as const
const TONE = { ok: 'good', warning: 'warning', problem: 'bad' } as const

function table(findings: readonly Finding[], screen: Pick<Surroundings, 'colours'>): string {
  const width = Math.max(...findings.map(({ check }) => oneLine(check).length))
  const lines = findings.flatMap(({ check, state, found, fix }) => {
    const mark = MARK[state].padEnd(MARK.problem.length)
    const indent = ' '.repeat(MARK.problem.length + width + 4)
    return [
      `${paint(mark, TONE[state], screen)}  ${oneLine(check).padEnd(width)}  ${oneLine(found)}`,
      ...(fix === undefined ? [] : [`${indent}fix: ${oneLine(fix)}`]),
    ]
  })
  return [...lines, '', summary(findings)].join('\n')
}

function summary(findings: readonly Finding[]): string {
  const count = (state: Finding['state']): number => findings.filter((finding) => finding.state === state).length
  if (count('problem') === 0 && count('warning') === 0) return 'everything is fine'
  return `${count('problem')} to fix, ${count('warning')} to know about`
}
