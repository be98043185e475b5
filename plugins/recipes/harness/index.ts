/** Serves a harness for one agent, and improves it from reports and from what people ask for. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { define } from '../../../src/contract/index.ts'
import { openEvolution } from '../../../src/evolution/index.ts'
import { openHarness } from '../../../src/harness/index.ts'
import { openTaskBook } from '../../../src/mining/index.ts'
import { processorOf } from '../../../src/training/index.ts'

export default define('recipe', {
  async make(config, parts) {
    const { adapter, seed, judgeStart, judgeImported, files } = await openHarness(config, parts)
    const evolution = await openEvolution(config, { adapter, parts, bundled: bundledTasks() })
    const { tasks_dir: tasksDir } = Object(config['evolution'])
    return {
      adapter,
      seed,
      judgeStart,
      judgeImported,
      ...(evolution.idle !== null && { unable: [evolution.idle] }),
      bind: async (scope) => ({
        runtime: scope.runtime,
        surface: { files: files(scope.read), ...evolution.surface },
        processors: {
          '': processorOf(config, { name: 'harness', modes: evolution.acceptsRequests ? ['auto', 'manual', 'hybrid'] : ['auto'] }),
        },
        ...(scope.gateway && { gateway: scope.gateway }),
        ...evolution.bind(scope),
        ...(typeof tasksDir === 'string' && { tasks: openTaskBook(resolve(parts.baseDirectory, tasksDir)) }),
        close: () => Promise.resolve(),
      }),
      trainers: () => ({ '': evolution.plan }),
    }
  },
})

/** Small general tasks, for a service without its own. */
const bundledTasks = () => JSON.parse(readFileSync(new URL('./tasks.json', import.meta.url), 'utf8'))
