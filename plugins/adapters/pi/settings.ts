/** Settings that a tree may not hold: they would choose the model in the service's place, or run code that no entry holds. */
import { invalid, isObject, type Entry } from '../../../src/contract/index.ts'

const MODEL = 'the service names the model that pi asks; remove the field'
const CODE = 'it loads code from outside the tree; write the code as a code_extension entry and remove the field'

const REFUSED: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  primary: new Map([
    ['defaultProvider', MODEL],
    ['defaultModel', MODEL],
    ['enabledModels', MODEL],
    ['httpProxy', 'it leads requests to the model elsewhere; remove the field'],
    ['packages', CODE],
    ['extensions', CODE],
  ]),
  models: new Map([['providers', MODEL]]),
}

/** The entries are looked at one by one, since the merged settings no longer say whose a field was. */
export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const { id, name, config } of entries) {
    if (name !== 'config' || !isObject(config['data'])) continue
    const target = typeof config['target'] === 'string' ? config['target'] : 'primary'
    for (const field of Object.keys(config['data'])) {
      const reason = REFUSED[target]?.get(field)
      if (reason !== undefined) throw invalid('setting_refused', `${id}: ${field} is no setting for a tree of pi: ${reason}`)
    }
  }
}
