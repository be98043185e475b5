/** `svc settings`: how a scenario trains, what bounds it and who is served a change, shown or changed. */
import { invalid } from '../../contract/index.ts'
import { OWN_EVOLUTION_KEYS, updateScenarioFields } from '../../contract/wire/index.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export interface SettingsOptions extends RemoteOptions {
  /** `name=value` each; without a value it is as configured again. */
  readonly changes: readonly string[]
}

const MODE = 'training_mode'

export function settings(options: SettingsOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const changes = changesIn(options.changes)
    const words = ['settings', ...options.changes].map(shellWord).join(' ')
    const scenario = await chooseScenario(service, options.scenario, (name) => `${words} --scenario ${shellWord(name)}`)
    const svc = service.in(scenario)
    if (changes !== null) await svc.updateScenario(changes)
    // Only a scenario in memory says how it is set; asking for its releases loads it.
    else await svc.releasePage({ limit: 1 })
    const row = (await service.svc.scenarios()).find((each) => each.scenario === scenario)
    const shown = { [MODE]: row?.training_mode ?? '', ...row?.evolution }
    surroundings.out(
      options.json === true
        ? jsonText({ scenario, ...shown }, 2)
        : [
            `${oneLine(scenario)}${changes === null ? '' : ', from the next step on'}`,
            ...Object.entries(shown).map(([name, value]) => `  ${name} ${oneLine(String(value))}`),
            '  everything else as configured (svc config print)',
          ].join('\n'),
    )
    return EXIT.fine
  })
}

/** Null where nothing is to be changed. */
function changesIn(given: readonly string[]) {
  if (given.length === 0) return null
  const pairs = given.map(pairOf)
  const mode = pairs.find(([name]) => name === MODE)?.[1]
  const evolution = Object.fromEntries(pairs.filter(([name]) => name !== MODE).map(([name, value]) => [name, valueOf(value)]))
  const { data, error } = updateScenarioFields.pick({ training_mode: true, evolution: true }).safeParse({
    ...(mode !== undefined && { training_mode: mode }),
    ...(Object.keys(evolution).length > 0 && { evolution }),
  })
  if (data !== undefined) return data
  const [issue] = error.issues
  throw invalid('invalid_setting', `${String(issue?.path.at(-1))}: ${issue?.message}`)
}

function pairOf(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=')
  const name = text.slice(0, at)
  if (at < 1) throw invalid('invalid_setting', `${oneLine(text)}: say what it is to be, such as max_cost_per_day=5`)
  if (![MODE, ...OWN_EVOLUTION_KEYS].includes(name))
    throw invalid('invalid_setting', `${oneLine(name)}: is no setting of a scenario; there are ${[MODE, ...OWN_EVOLUTION_KEYS].join(', ')}`)
  return [name, text.slice(at + 1)]
}

function valueOf(text: string): string | number | null {
  if (text === '') return null
  return Number.isNaN(Number(text)) ? text : Number(text)
}
