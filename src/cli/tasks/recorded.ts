/** The newest records of a running service, in a private file as long as they are mined. A run that was killed leaves it to the next one to remove. */
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Svc } from '@svc-ai/client'
import { makeTrialFolder } from '../../mining/index.ts'
import { startBar } from '../bar.ts'
import { newestOf, recordLines, RECORDS_MODE } from '../remote/export.ts'
import type { Surroundings } from '../surroundings.ts'

export interface RecordsWanted {
  readonly svc: Svc
  readonly scenario: string
  readonly recordsMax: number
  /** The folder of the tasks. */
  readonly directory: string
  readonly signal: AbortSignal
}

export async function withRecords<T>(wanted: RecordsWanted, surroundings: Surroundings, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await makeTrialFolder(wanted.directory)
  try {
    const file = join(folder, 'records.jsonl')
    await fetchInto(file, wanted, surroundings)
    return await work(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function fetchInto(file: string, { svc, scenario, recordsMax, signal }: RecordsWanted, surroundings: Surroundings): Promise<void> {
  const handle = await open(file, 'wx', RECORDS_MODE)
  const bar = startBar(surroundings)
  try {
    const newest = await newestOf(svc)
    const first = Math.max(0, newest - recordsMax)
    for await (const { lines, through } of recordLines(svc, scenario, first)) {
      signal.throwIfAborted()
      await handle.appendFile(lines)
      bar.at(through - first, Math.max(newest, through) - first)
    }
  } finally {
    bar.end()
    await handle.close()
  }
}
