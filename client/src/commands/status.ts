/** `svc-client status`: the scenarios of a service, one line each, and what went wrong above them. */
import { connect, type Address } from '../api.ts'
import { Failure, ServiceFailure } from '../failure.ts'
import { showHiddenLine } from '../hidden.ts'
import { COMMAND } from '../names.ts'
import type { StatusReport } from '../nouns.ts'
import type { ScenarioRow } from '../wire.generated.ts'
import { COMMON, COMMON_HELP, noArgument, scenarioName, serviceUrl, tokenIn, readArguments } from '../options.ts'
import type { Command } from './command.ts'

const HELP = `Usage: ${COMMAND} status --url <service_url> [options]

Shows every scenario with its recipe, the release it serves, its training mode, its latest step and the outcome of the last training.
Errors of the service stand above the table. A scenario that is not loaded shows its recipe alone.

Options:
  --url <url>              where the service answers, such as http://127.0.0.1:8900
  --scenario <name>        this scenario alone
${COMMON_HELP}
Exit status: 0 the state was read, errors in it or not; 1 it was not; 2 the command was not understood.
`

const RELEASE_CHARACTERS_SHOWN = 12
const HEADINGS = ['SCENARIO', 'RECIPE', 'RELEASE', 'MODE', 'STEP', 'LAST RESULT'] as const

interface StatusArguments extends Omit<Address, 'scenario'> {
  /** The only one to show; all when absent. */
  readonly only: string | undefined
  readonly json: boolean
}

interface Line {
  readonly scenario: string
  readonly recipe: string | null
  readonly release_id: string | null
  readonly training_mode: string | null
  readonly step: number | null
  readonly last_result: string | null
}

export const statusCommand: Command<StatusArguments> = {
  help: HELP,
  parse: (argv, env) => {
    const { values, positionals } = readArguments(argv, COMMON)
    if (values.help) return null
    noArgument(positionals)
    const only = values.scenario === undefined ? undefined : scenarioName(values.scenario)
    return { url: serviceUrl(values.url), only, json: values.json, token: tokenIn(env) }
  },
  about: ({ url }) => ({ url }),
  run: async (options) => {
    const svc = connect(options)
    const [known, status] = await Promise.all([svc.scenarios(), svc.status()])
    const rows = chosen(known, options.only)
    const lines: Line[] = []
    for (const row of rows) lines.push(await lineOf(options, row, status))
    const { error, preload_errors } = status
    return { text: errorsIn(status) + tableOf(lines), data: { error, preload_errors, scenarios: lines } }
  },
}

function chosen(known: readonly ScenarioRow[], only: string | undefined): readonly ScenarioRow[] {
  if (only === undefined) return known
  const found = known.filter(({ scenario }) => scenario === only)
  if (found.length === 0) throw new Failure(`the service has no scenario ${only}: run '${COMMAND} status' without --scenario to see all`)
  return found
}

async function lineOf(address: StatusArguments, row: ScenarioRow, { scenarios }: StatusReport): Promise<Line> {
  const { scenario, recipe, release_id = null, training_mode = null } = row
  const live = Object.hasOwn(scenarios, scenario) ? scenarios[scenario] : undefined
  const trained = live?.last_committed_step?.step
  const last_result = trained === undefined ? null : await resultOf(address, scenario, trained)
  return { scenario, recipe, release_id, training_mode, step: live?.scenario_step ?? null, last_result }
}

/** Null for a scenario that was deleted meanwhile. */
async function resultOf(address: StatusArguments, scenario: string, step: number): Promise<string | null> {
  try {
    const releases = await connect({ ...address, scenario }).releases()
    return releases.find((row) => row.step === step)?.result ?? null
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 404) return null
    throw error
  }
}

function errorsIn({ error, preload_errors }: StatusReport): string {
  const training = error === null || error === '' ? [] : error.split('\n').map((line) => `error: ${line}`)
  const loading = Object.entries(preload_errors).map(([name, problem]) =>
    showHiddenLine(`error: scenario ${name} cannot be loaded: ${problem}`),
  )
  const all = [...training, ...loading]
  return all.length === 0 ? '' : `${all.join('\n')}\n\n`
}

function tableOf(lines: readonly Line[]): string {
  if (lines.length === 0) return 'no scenario yet\n'
  const cells = [HEADINGS, ...lines.map((line) => cellsOf(line).map(showHiddenLine))]
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function cellsOf({ scenario, recipe, release_id, training_mode, step, last_result }: Line): readonly string[] {
  const release = release_id?.slice(0, RELEASE_CHARACTERS_SHOWN)
  return [scenario, recipe ?? '-', release ?? '-', training_mode ?? '-', step === null ? '-' : String(step), last_result ?? '-']
}
