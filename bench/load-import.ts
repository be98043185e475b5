/** Import load: batches are built before the clock starts, then sent one after the other per connection. */

import { appendFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { type Client, converse, FailureCount, requestBytes, statusOf } from './connection.ts'
import type { ImportJob, ImportResult } from './jobs.ts'

interface Batch {
  readonly ids: readonly string[]
  readonly bytes: Buffer
}

export async function loadImport(job: ImportJob): Promise<ImportResult> {
  const run = randomUUID().slice(0, 8)
  const batches = Array.from({ length: job.batches }, (_, index) => batchOf(job, `${run}-${String(index).padStart(6, '0')}`))
  const failures = new FailureCount()
  const acknowledged: string[] = []
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: job.concurrency }, () => converse(job.port, new ImportClient(batches, acknowledged, failures))))
  const seconds = (performance.now() - startedAt) / 1000
  if (job.receiptsFile !== undefined) appendFileSync(job.receiptsFile, acknowledged.map((id) => `${id}\n`).join(''))
  return { records: acknowledged.length, seconds, failures: failures.counts }
}

function batchOf(job: ImportJob, prefix: string): Batch {
  const ids = Array.from({ length: job.recordsPerBatch }, (_, index) => `${prefix}-${String(index).padStart(6, '0')}`)
  const records = ids.map((id) => ({ agent_record_id: id, request_type: 'inference', payload: payloadOf(job.recordBytes, id) }))
  return { ids, bytes: requestBytes(job.path, job.headers, JSON.stringify({ records })) }
}

function payloadOf(bytes: number, id: string): object {
  const half = 'imported '.repeat(Math.ceil(bytes / 18))
  const choices = [{ index: 0, message: { role: 'assistant', content: half }, finish_reason: 'stop' }]
  return { model: 'mock', messages: [{ role: 'user', content: `${id} ${half}` }], response: { object: 'chat.completion', choices } }
}

class ImportClient implements Client {
  readonly #waiting: Batch[]
  readonly #acknowledged: string[]
  readonly #failures: FailureCount
  #sent: Batch | undefined
  #status = 0

  constructor(waiting: Batch[], acknowledged: string[], failures: FailureCount) {
    this.#waiting = waiting
    this.#acknowledged = acknowledged
    this.#failures = failures
  }

  next(): Buffer | undefined {
    this.#sent = this.#waiting.pop()
    return this.#sent?.bytes
  }

  head(text: string): void {
    this.#status = statusOf(text)
  }

  body(): void {}

  end(): void {
    if (this.#status === 200) this.#acknowledged.push(...(this.#sent?.ids ?? []))
    else this.#failures.add(`status ${this.#status}`)
  }

  broken(cause: string): boolean {
    this.#failures.add(cause)
    return true
  }
}
