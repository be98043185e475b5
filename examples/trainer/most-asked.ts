/** A small trainer with state: counts the models that clients request, and publishes the list when its order changes. */
import { define, isObject, type JsonObject, type StepOrder, type StepResult } from '../../src/contract/index.ts'

const FILE = 'models.md'
/** Clients choose the names, so their number and characters are limited. */
const MODELS_MAX = 100
const NAME = /^[\w.:/-]{1,100}$/

export default define('trainer', { make: () => ({ step: async (order) => count(order) }) })

function count({ batch: { samples }, files, state }: StepOrder): StepResult {
  const counts = countsIn(state)
  for (const { model } of samples.flatMap(({ exchanges }) => exchanges))
    if (typeof model === 'string' && NAME.test(model)) counts.set(model, (counts.get(model) ?? 0) + 1)

  const most = [...counts].toSorted(byCount).slice(0, MODELS_MAX)
  const list = most.map(([name]) => `- ${name}\n`).join('')
  const kept = { state: { counts: Object.fromEntries(most) }, metrics: { models: most.length } }
  if (list === (files[FILE] ?? '')) return { kind: 'skip', reason: 'the list is as it was', ...kept }
  return { kind: 'publish', content: { kind: 'files', files: { [FILE]: list } }, ...kept }
}

/** The state of the last step, which an older version may have written. */
function countsIn({ counts }: JsonObject): Map<string, number> {
  const known = Object.entries(isObject(counts) ? counts : {})
  return new Map(known.flatMap(([name, times]) => (typeof times === 'number' ? [[name, times]] : [])))
}

const byCount = ([a, often]: readonly [string, number], [b, oftener]: readonly [string, number]): number =>
  oftener - often || (a < b ? -1 : 1)
