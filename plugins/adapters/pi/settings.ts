/** Settings that a tree may not hold: they would choose the model in the service's place, or run code that no entry holds. */
import type { Entry } from '../../../src/contract/index.ts'
import { LOADS_CODE, NAMES_MODEL, refuseFields, settingsIn } from '../../../src/harness/index.ts'

const REFUSED: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  primary: new Map([
    ['defaultProvider', NAMES_MODEL],
    ['defaultModel', NAMES_MODEL],
    ['enabledModels', NAMES_MODEL],
    ['httpProxy', 'it leads requests to the model elsewhere; remove the field'],
    ['packages', LOADS_CODE],
    ['extensions', LOADS_CODE],
  ]),
  models: new Map([['providers', NAMES_MODEL]]),
}

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) refuseFields(setting, REFUSED[setting.target] ?? new Map())
}
