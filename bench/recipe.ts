/** The benchmark's recipe: its trainer publishes a line per report, or keeps a core busy until a given file exists. */

import { hash } from 'node:crypto'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { define, type Files, type StepOrder, type StepResult } from '../src/contract/index.ts'
import { processorOf } from '../src/training/index.ts'

const LEDGER = 'ledger.md'
const LEDGER_CHARACTERS_MAX = 20_000
/** The length of a busy burst, after which it checks for the file. */
const BURST_MS = 10
const TEXT = JSON.stringify({
  turns: Array.from({ length: 40 }, (_, index) => ({ role: 'user', content: `line ${index} of a longer text` })),
})

export default define('recipe', {
  seed: { [LEDGER]: '' },
  bind: async ({ config, runtime, read }) => ({
    runtime,
    surface: { files: { read: (release) => read(release.content_id) } },
    processors: { '': processorOf(config, { name: 'bench' }) },
    close: async () => undefined,
  }),
  trainers: () => ({ '': { lane: 'thread', open: () => ({ step: (order, _report, signal) => takeStep(order, signal) }) } }),
})

/** The instruction that keeps the trainer busy until the file exists. */
export const burnUntil = (file: string): string => `burn ${file}`
/** Where the trainer writes its priority. */
export const reachedFile = (file: string): string => `${file}.reached`

export function withLines(files: Files, lines: readonly string[]): Files {
  return { ...files, [LEDGER]: [files[LEDGER] ?? '', ...lines].join('') }
}

async function takeStep({ batch, files }: StepOrder, signal: AbortSignal): Promise<StepResult> {
  const [word, file] = batch.request?.text.split(' ') ?? []
  if (word === 'burn' && file !== undefined) await burn(file, signal)
  const lines = batch.samples.map(({ record_ids }) => `${record_ids.join(' ')}\n`)
  return { kind: 'publish', content: { kind: 'files', files: shortened(withLines(files, [...lines, `${batch.id}\n`])) } }
}

/** A ledger that grows for ever would make a soak measure itself. */
function shortened(files: Files): Files {
  return { ...files, [LEDGER]: (files[LEDGER] ?? '').slice(-LEDGER_CHARACTERS_MAX) }
}

async function burn(file: string, signal: AbortSignal): Promise<void> {
  // Written and renamed, so that readers see the whole file.
  writeFileSync(`${file}.new`, String(getPriority()))
  renameSync(`${file}.new`, reachedFile(file))
  while (!existsSync(file)) {
    burst()
    await nextTurn(undefined, { signal })
  }
}

/** Parses, prints and hashes: work that creates garbage, like real JavaScript. */
function burst(): void {
  const endsAt = performance.now() + BURST_MS
  for (let digest = ''; performance.now() < endsAt;) digest = hash('sha256', JSON.stringify(JSON.parse(TEXT)) + digest)
}
