/** The smallest recipe that learns: counts the reports it was given, publishes the count as a text file, and keeps what people ask it to note. */
import { define, type StepOrder, type StepResult } from '../../src/contract/index.ts'
import { processorOf } from '../../src/training/index.ts'

const FILE = 'counter.md'

export default define('recipe', {
  /** What the first release of a new scenario holds. */
  seed: { [FILE]: 'reports: 0\n' },

  /** What the scenario serves and collects: files to pull, and one sample per report. */
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

  /** What improves it. This runs in a thread of its own, so it shares nothing with the above. */
  trainers: () => ({ '': { lane: 'thread', open: () => ({ step: async (order) => count(order) }) } }),
})

/** Everything a step needs is in the order; everything it has to say is in its answer. */
function count({ batch, files }: StepOrder): StepResult {
  const [first = '', ...notes] = (files[FILE] ?? '').trimEnd().split('\n')
  const reports = Number(/\d+/.exec(first)?.[0] ?? 0) + batch.samples.length
  const asked = batch.request === null ? [] : [`note: ${batch.request.text}`]
  const text = [`reports: ${reports}`, ...notes, ...asked].join('\n')
  return { kind: 'publish', content: { kind: 'files', files: { [FILE]: `${text}\n` } }, metrics: { reports } }
}
