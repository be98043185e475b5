/** A recipe composed of other plug-ins: its trainer and processor are loaded by name. */
import { join } from 'node:path'
import { define } from '../../src/contract/index.ts'

/** Absolute, since a relative path starts from the configuration file. A package name works too. */
const here = (path: string): string => join(import.meta.dirname, path)

export default define('recipe', {
  async make(config, parts) {
    const trainer = await parts.plugin('trainer', here('most-asked.ts'))
    const processor = await parts.plugin('processor', here('../processor/every-record.ts'))
    return {
      async bind({ runtime, gateway, read }) {
        return {
          runtime,
          surface: { files: { read: ({ content_id }) => read(content_id) } },
          // It learns from traffic only.
          processors: { '': { ...(await processor.make(config)), modes: ['auto'] } },
          ...(gateway && { gateway }),
          close: async () => undefined,
        }
      },
      trainers: () => ({ '': { lane: 'thread', open: () => trainer.make(config) } }),
    }
  },
})
