/** `svc report`: a person's score or words about an exchange. */
import { invalid } from '../../contract/index.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export interface ReportOptions extends RemoteOptions {
  readonly receipt: readonly string[]
  readonly score?: number
  readonly text?: string
}

export function report(options: ReportOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const { receipt: receipts, score, text } = options
    if (score === undefined && text === undefined) throw invalid('nothing_said', 'say how it was: --score 0, --text "…", or both')
    const words = receipts.map(shellWord).join(' ')
    const scenario = await chooseScenario(service, options.scenario, (name) => `report ${words} --scenario ${shellWord(name)} …`)
    const stored = await service.in(scenario).report({
      references: [...receipts],
      ...(score !== undefined && { score }),
      ...(text !== undefined && { feedback: text }),
    })
    if (options.json === true) surroundings.out(jsonText(stored, 2))
    else surroundings.out(`report ${oneLine(stored.agent_record_id)} is stored`)
    return EXIT.fine
  })
}
