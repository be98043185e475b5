/** A worker that plays an episode that never ends by itself. */
import { workerData } from 'node:worker_threads'
import local from './index.ts'

const script: string = workerData
const executor = await local.plugin.make({})
await executor.run(
  {
    files: () => ({}),
    workspace: {},
    model: { url: 'http://127.0.0.1:9', model: null, api: 'openai', apiKey: null },
    launch: () => ({ argv: [process.execPath, '-e', script], env: {}, timeoutSeconds: 600 }),
    readTrajectory: async () => [],
    needs: [],
  },
  new AbortController().signal,
)
