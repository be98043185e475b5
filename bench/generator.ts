/** The load generator's process: receives one job at a time as a message and sends its result. */

import { isJob, type Job, type ResultOf } from './jobs.ts'
import { loadImport } from './load-import.ts'
import { loadJson } from './load-json.ts'
import { loadPromote } from './load-promote.ts'
import { loadSse } from './load-sse.ts'

function load(job: Job): Promise<ResultOf<Job>> {
  if (job.kind === 'json') return loadJson(job)
  if (job.kind === 'sse') return loadSse(job)
  return job.kind === 'import' ? loadImport(job) : loadPromote(job)
}

process.on('message', (message) => {
  if (isJob(message)) void load(message).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit(0))
