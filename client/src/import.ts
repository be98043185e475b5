/** An import from start to end: open, lock, identify, go on where the last run stopped, send, remember. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { readBatches } from './batches.ts'
import { readCheckpoint, requireSame, writeCheckpoint } from './checkpoint.ts'
import type { Checkpoint, Position } from './checkpoint.ts'
import { sendBatch } from './send-batch.ts'
import type { ImportTarget } from './send-batch.ts'
import { takeLock } from './lock.ts'
import { FORMER_PROGRESS_SUFFIX, LOCK_SUFFIX, PROGRESS_SUFFIX } from './names.ts'
import { showProgress } from './progress.ts'
import type { ProgressBar, ProgressScreen } from './progress.ts'
import { SourceFile } from './source.ts'

export interface ImportOptions {
  readonly file: string
  /** Without a trailing slash. */
  readonly url: string
  readonly scenario: string
  readonly batchRecordsMax: number
  readonly batchBytesMax: number
  readonly retries: number
  readonly progress: string
  readonly token: string | null
}

export interface Summary {
  /** Acknowledged rows of the source over all runs, those the service had already included. */
  readonly records: number
  /** Of them, those of this run. */
  readonly sent: number
  readonly batches: number
  readonly retries: number
}

/** For tests: how long to wait and how long to be patient. */
export type ImportPace = Pick<ImportTarget, 'wait' | 'timeoutSeconds'>

export async function importFile(options: ImportOptions, screen: ProgressScreen, pace: ImportPace = {}): Promise<Summary> {
  const source = await SourceFile.open(options.file)
  try {
    renameProgress(options)
    const lock = takeLock(options.progress)
    try {
      return await sendFrom(source, options, screen, pace)
    } finally {
      lock[Symbol.dispose]()
    }
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

/** Earlier versions called the progress file otherwise. One that still imports holds its lock, and is not disturbed. */
function renameProgress({ file, progress }: ImportOptions): void {
  const former = resolve(`${file}${FORMER_PROGRESS_SUFFIX}`)
  if (progress !== resolve(`${file}${PROGRESS_SUFFIX}`) || existsSync(progress) || !existsSync(former)) return
  const lock = takeLock(former)
  try {
    renameSync(former, progress)
  } finally {
    lock[Symbol.dispose]()
  }
  rmSync(`${former}${LOCK_SUFFIX}`, { force: true })
}

async function sendFrom(source: SourceFile, options: ImportOptions, screen: ProgressScreen, pace: ImportPace): Promise<Summary> {
  const saved = await readCheckpoint(options.progress)
  const { sha256, linesBefore } = await source.identify(saved?.offset ?? 0)
  const identity = { url: options.url, scenario: options.scenario, sha256, size: source.bytes }
  if (saved !== null) requireSame(options.progress, saved, identity)

  const start: Checkpoint = saved ?? { ...identity, offset: 0, count: 0 }
  if (saved === null) await writeCheckpoint(options.progress, start)
  const progress = showProgress(screen, source.bytes)
  try {
    return await send(options, { source, start, linesBefore, progress, pace })
  } finally {
    progress.end()
  }
}

interface Run {
  readonly source: SourceFile
  readonly start: Checkpoint
  readonly linesBefore: number
  readonly progress: ProgressBar
  readonly pace: ImportPace
}

/** The checkpoint moves only after the service acknowledged a batch, so a run that dies sends at most one batch twice. */
async function send(options: ImportOptions, run: Run): Promise<Summary> {
  const { source, start, progress } = run
  let position: Position = start
  let batches = 0
  let retries = 0
  const onRetry = (problem: string, seconds: number): void => {
    retries += 1
    progress.note(`${problem}; trying again in ${Math.ceil(seconds)} s`)
  }
  const service: ImportTarget = { ...options, ...run.pace, onRetry }
  const from = { offset: start.offset, linesBefore: run.linesBefore }
  progress.at(position.offset, position.count)
  for await (const batch of readBatches(source.read(start.offset), from, options)) {
    await source.requireUnchanged()
    await sendBatch(service, batch)
    position = { offset: batch.end, count: position.count + batch.lines.length }
    await writeCheckpoint(options.progress, { ...start, ...position })
    batches += 1
    progress.at(position.offset, position.count)
  }
  await source.requireUnchanged()
  if (position.offset !== source.bytes) await writeCheckpoint(options.progress, { ...start, ...position, offset: source.bytes })
  return { records: position.count, sent: position.count - start.count, batches, retries }
}
