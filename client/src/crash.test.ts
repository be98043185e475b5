/** Imports that die, and two at once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { randomOf, type Random } from '../../test/crash/random.ts'
import { world } from '../../test/support/world.ts'
import { fakeService, type FakeService } from './testing/fake-service.ts'
import { envelopes, sourceFile } from './testing/files.ts'

/** `npm run test:crash:import` kills a hundred times. */
const KILLS = Number(process.env['IMPORT_KILLS'] ?? 15)
/** More than all the runs that are killed get done. */
const RECORDS_PER_KILL = 200
const BATCH = 4
const RECORDS = 60
const ENTRY = fileURLToPath(new URL('main.ts', import.meta.url))
const SEED = process.env['IMPORT_SEED'] ?? String(Date.now())

it('an import killed at random moments ends with every record once, in order, and a count that is right [importer.resume] [importer.count]', async () => {
  const service = await fakeService()
  const records = KILLS * RECORDS_PER_KILL
  const file = sourceFile(envelopes(records))
  const random = randomOf(SEED)
  const about = `IMPORT_SEED=${SEED} IMPORT_KILLS=${KILLS} repeats the choices`
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = startImport(file, service.url)
    killSometime(child, service, random)
    expect(await once(child, 'exit'), about).toEqual([null, 'SIGKILL'])
    expect(countIn(file), about).toBeLessThanOrEqual(service.stored.size)
  }
  Object.assign(service, { onArrived: nothing, onStored: nothing, onAnswered: nothing })
  const last = await finish(startImport(file, service.url, '--json', '--batch-size', '1000'))
  expect(JSON.parse(last.out), about).toMatchObject({ ok: true, records })
  expect([...service.stored.keys()], about).toEqual(Array.from({ length: records }, (_, index) => `r${index + 1}`))
  expect(countIn(file), about).toBe(records)
  expect(strayRequests(service), about).toEqual([])
  const beside = ['records.jsonl', 'records.jsonl.svc-import.json', 'records.jsonl.svc-import.json.lock']
  expect(readdirSync(dirname(file)).toSorted(), about).toEqual(beside)
}, 300_000)

const nothing = (): void => undefined

/** While it starts, or a moment after a request arrived, was stored or was answered: all of them are places where something may be lost. */
function killSometime(child: ReturnType<typeof startImport>, service: FakeService, random: Random): void {
  const moment = random.pick(['start', 'onArrived', 'onStored', 'onAnswered'])
  const kill = (): void => void child.kill('SIGKILL')
  Object.assign(service, { onArrived: nothing, onStored: nothing, onAnswered: nothing })
  if (moment === 'start') return void setTimeout(kill, random.between(0, 150))
  let batches = random.between(1, 4)
  const delayMillis = random.fraction() * 3
  const count = (): void => {
    batches -= 1
    if (batches === 0) setTimeout(kill, delayMillis)
  }
  Object.assign(service, { [moment]: count })
}

/** The acknowledged rows in the progress file. It is there whole or not at all. */
function countIn(file: string): number {
  const path = `${file}.svc-import.json`
  if (!existsSync(path)) return 0
  const { count }: { readonly count: number } = JSON.parse(readFileSync(path, 'utf8'))
  return count
}

/** Requests that leave a gap behind what is stored, or repeat more than the one batch whose answer may have been lost. */
function strayRequests({ requests }: FakeService): readonly string[] {
  let stored = 0
  return requests.flatMap(({ body }) => {
    const ids = [...body.matchAll(/"agent_record_id":"r(\d+)"/g)].map(([, number]) => Number(number))
    const first = (ids[0] ?? 0) - 1
    const before = stored
    stored = Math.max(stored, first + ids.length)
    return first > before || first < before - BATCH ? [`r${first + 1} when ${before} were stored`] : []
  })
}

it('the service itself has every record once and in order after imports that were killed [importer.resume]', async () => {
  const real = await world({ backend: 'sqlite' })
  try {
    const file = sourceFile(envelopes(RECORDS))
    for (const changesBeforeKill of [1, 5, 9]) {
      const child = startImport(file, real.address)
      let changes = 0
      const watcher = watch(dirname(file), (_, name) => {
        if (name === `${basename(file)}.svc-import.json`) changes += 1
        if (changes === changesBeforeKill) child.kill('SIGKILL')
      })
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
      watcher.close()
    }
    expect(await finish(startImport(file, real.address))).toMatchObject({ code: 0 })
    const { json } = await real.get('/svc/scenarios/s/records?limit=100')
    const kept = Array.from({ length: RECORDS }, (_, index) => ({ sequence: index + 1, agent_record_id: `r${index + 1}` }))
    expect(json).toMatchObject({ records: kept, next_after_sequence: null })
  } finally {
    await real.close()
  }
})

it('of two imports of one file at once, one runs and the other says so [importer.lock]', async () => {
  const service = await fakeService('hang')
  const file = sourceFile(envelopes(RECORDS))
  const first = startImport(file, service.url)
  await expect.poll(() => service.requests.length, { timeout: 20_000 }).toBe(1)
  const second = await finish(startImport(file, service.url))
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('another import holds') as unknown })
  first.kill('SIGKILL')
  await once(first, 'exit')
  expect(await finish(startImport(file, service.url))).toMatchObject({ code: 0 })
  expect(service.stored.size).toBe(RECORDS)
})

function startImport(file: string, url: string, ...more: string[]) {
  const argv = ['import', file, '--url', url, '--scenario', 's', '--batch-size', String(BATCH), ...more]
  const script = `import { main } from ${JSON.stringify(ENTRY)}; process.exitCode = await main(${JSON.stringify(argv)}, {}, process)`
  return spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function finish(child: ReturnType<typeof startImport>): Promise<{ code: unknown; out: string; err: string }> {
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const [code]: unknown[] = await once(child, 'close')
  return { code, out, err }
}
