/** The load generator's process: receives jobs as messages, runs them at once and sends their results. */

import { isNumberedJob, type Job, type ResultOf } from './jobs.ts'
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
  if (!isNumberedJob(message)) return
  const { number, job } = message
  void load(job).then((result) => process.send?.({ number, result }))
})
process.on('disconnect', () => process.exit(0))
