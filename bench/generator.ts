/** The load generator's process: receives one job at a time as a message and sends its result. */

import { type ImportResult, isJob, type Job, type JsonResult, type SseResult } from './jobs.ts'
import { loadImport } from './load-import.ts'
import { loadJson } from './load-json.ts'
import { loadSse } from './load-sse.ts'

function load(job: Job): Promise<JsonResult | SseResult | ImportResult> {
  if (job.kind === 'json') return loadJson(job)
  return job.kind === 'sse' ? loadSse(job) : loadImport(job)
}

process.on('message', (message) => {
  if (isJob(message)) void load(message).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))
