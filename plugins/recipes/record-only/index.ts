/** Keeps every exchange and learns nothing: the smallest recipe there is, and the default. */
import { define, type Processor } from '../../../src/contract/index.ts'

export default define('recipe', {
  bind: ({ runtime, gateway }) =>
    Promise.resolve({
      runtime,
      surface: {},
      processors: { '': keepOnly },
      ...(gateway && { gateway }),
      close: () => Promise.resolve(),
    }),
})

const keepOnly: Processor = {
  name: 'record-only',
  modes: ['auto'],
  requestTypes: [],
  ingest: () => undefined,
  take: () => null,
  settle: () => undefined,
  status: () => ({}),
}
