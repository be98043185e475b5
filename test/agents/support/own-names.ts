/** The names that an agent has itself and that an entry could take without a person seeing it: none, when the list of common names is up to date. */
import { builtins } from '../../../plugins/index.ts'
import { powersIn, powersOf } from '../../../src/harness/index.ts'

export async function unguarded(adapter: string, names: readonly string[]): Promise<readonly string[]> {
  const [, load] = Object.entries(builtins.adapter).find(([name]) => name === adapter) ?? []
  if (load === undefined) throw new Error(`there is no adapter ${adapter}`)
  const { plugin } = (await load()).default
  const takes = (name: string) => powersIn(powersOf([], [{ id: 'mine', name: 'skill', config: { name, text: 'Add.' } }], plugin))
  return [...new Set(names)].filter((name) => !takes(name).includes('runs'))
}
