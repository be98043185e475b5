/** The smallest recipe that learns: publishes the number of reports as a text file, and keeps people's instructions as notes. */
import { define, type StepOrder, type StepResult } from '../../src/contract/index.ts'
import { processorOf } from '../../src/training/index.ts'

const FILE = 'counter.md'

export default define('recipe', {
  /** The first release of a new scenario. */
  seed: { [FILE]: 'reports: 0\n' },

  /** Serves files to pull, and collects one sample per report. */
  async bind(scope) {
    const { config, runtime, gateway } = scope
    return {
      runtime,
      surface: { files: { read: (release) => scope.read(release.content_id) } },
      processors: { '': processorOf(config, { name: 'text-counter' }) },
      ...(gateway && { gateway }),
      close: async () => undefined,
    }
  },

  /** The trainer runs in another thread and shares nothing with the above. */
  trainers: () => ({ '': { lane: 'thread', open: () => ({ step: async (order) => count(order) }) } }),
})

/** All input is in the order, all output in the result. */
function count({ batch, files }: StepOrder): StepResult {
  const [first = '', ...notes] = (files[FILE] ?? '').trimEnd().split('\n')
  const reports = Number(/\d+/.exec(first)?.[0] ?? 0) + batch.samples.length
  const asked = batch.request === null ? [] : [`note: ${batch.request.text}`]
  const text = [`reports: ${reports}`, ...notes, ...asked].join('\n')
  return { kind: 'publish', content: { kind: 'files', files: { [FILE]: `${text}\n` } }, metrics: { reports } }
}
