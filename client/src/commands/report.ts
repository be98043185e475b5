/** `svc-client report`: a score for exchanges that the service recorded. */
import { connect, type Address } from '../api.ts'
import { COMMAND } from '../names.ts'
import type { ReportBody } from '../wire.generated.ts'
import {
  COMMON,
  COMMON_HELP,
  noArgument,
  scenarioName,
  scoreOf,
  serviceUrl,
  tokenIn,
  readArguments,
  withNegativeScore,
} from '../options.ts'
import type { Command } from './command.ts'

const HELP = `Usage: ${COMMAND} report --url <service_url> --scenario <name> --score <number> [options]

Reports to the service how exchanges went. A receipt is the id under which the service recorded an exchange.

Options:
  --url <url>              where the service answers, such as http://127.0.0.1:8900
  --scenario <name>        the scenario the exchanges belong to
  --score <number>         how good it was, in whatever measure the scenario's recipe uses
  --feedback <text>        what was good or bad about it
  --reference <receipt>    an exchange that is meant; again for each further one
  --session <name>         in its place: every exchange that was sent with the header x-svc-tag-session: <name>
  --id <id>                the report's own id: with it, sending the same report again stores nothing twice
${COMMON_HELP}
Exit status: 0 the report is stored, 1 it is not, 2 the command was not understood.
`

interface ReportArguments extends Address {
  readonly scenario: string
  readonly report: ReportBody
  readonly json: boolean
}

export const reportCommand: Command<ReportArguments> = {
  help: HELP,
  parse: (argv, env) => {
    const { values, positionals } = readArguments(withNegativeScore(argv), {
      ...COMMON,
      score: { type: 'string' },
      feedback: { type: 'string' },
      reference: { type: 'string', multiple: true, default: [] },
      session: { type: 'string' },
      id: { type: 'string' },
    })
    if (values.help) return null
    noArgument(positionals)
    const { feedback, session, id } = values
    const report = {
      score: scoreOf(values.score),
      ...(feedback !== undefined && { feedback }),
      references: values.reference,
      ...(session !== undefined && { references_to: { session } }),
      ...(id !== undefined && { agent_record_id: id }),
    }
    return { url: serviceUrl(values.url), scenario: scenarioName(values.scenario), report, json: values.json, token: tokenIn(env) }
  },
  about: ({ url, scenario }) => ({ url, scenario }),
  run: async (options) => {
    const receipt = await connect(options).report(options.report)
    return { text: `report ${receipt.agent_record_id} is stored for scenario ${receipt.scenario}\n`, data: { ...receipt } }
  },
}
