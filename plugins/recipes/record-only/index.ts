/** Keeps every exchange and learns nothing: the smallest recipe there is, and the default. */
import { define } from '../../../src/contract/index.ts'
import { keepOnly } from '../../../src/training/index.ts'

export default define('recipe', {
  bind: ({ runtime, gateway }) =>
    Promise.resolve({
      runtime,
      surface: {},
      processors: { '': keepOnly('record-only') },
      ...(gateway && { gateway }),
      close: () => Promise.resolve(),
    }),
})
