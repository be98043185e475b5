/** A worker that plays an episode that never ends by itself. */
import { workerData } from 'node:worker_threads'
import { playOf } from '../../../conformance/executor.ts'
import local from './index.ts'

const executor = await local.plugin.make({})
await executor.run(playOf(workerData), new AbortController().signal)
