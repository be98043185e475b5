/** `svc scenarios`: every scenario of the service, and how each is set. */
import type { ScenarioRow } from '@svc-ai/client'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { jsonText, oneLine } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { shortId } from './release.ts'
import { withService } from './service.ts'

export function scenarios(options: RemoteOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async ({ svc }) => {
    const rows = await svc.scenarios()
    if (options.json === true) surroundings.out(jsonText({ scenarios: rows }, 2))
    else if (rows.length === 0) surroundings.out('there is no scenario yet: the first request makes one')
    else surroundings.out(table(COLUMNS, rows.map(cellsOf), surroundings))
    return EXIT.fine
  })
}

const COLUMNS: readonly TableColumn[] = [
  { title: 'SCENARIO', least: 12 },
  { title: 'SERVES' },
  { title: 'TRAINING' },
  { title: 'AGENT' },
  { title: 'MODEL', least: 8 },
  { title: 'RECIPE', least: 8 },
]

/** Of one that is not loaded only the recipe is known. */
function cellsOf({ scenario, loaded, release_id, training_mode, adapter, model, recipe }: ScenarioRow): readonly Cell[] {
  return [
    oneLine(scenario),
    loaded ? shortId(release_id ?? '') : { text: 'not loaded', tone: 'quiet' },
    oneLine(training_mode ?? ''),
    oneLine(adapter ?? ''),
    oneLine(model?.model ?? ''),
    oneLine(recipe ?? ''),
  ]
}
