/** Imports that die, and two at once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fakeService } from './testing/fake-service.ts'
import { envelopes, sourceFile } from './testing/files.ts'

const RECORDS = 60
const ENTRY = fileURLToPath(new URL('main.ts', import.meta.url))

it('an import killed again and again ends with every record once and a count that is right [importer.resume] [importer.count]', async () => {
  const service = await fakeService()
  const file = sourceFile(envelopes(RECORDS))
  for (const batchesBeforeKill of [1, 2, 5]) {
    let batches = 0
    const child = startImport(file, service.url)
    service.onStored = () => {
      batches += 1
      if (batches === batchesBeforeKill) child.kill('SIGKILL')
    }
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  }
  service.onStored = () => undefined
  const last = await finish(startImport(file, service.url, '--json'))
  expect(JSON.parse(last.out)).toMatchObject({ ok: true, records: RECORDS })
  expect([...service.stored.keys()]).toEqual(Array.from({ length: RECORDS }, (_, index) => `r${index + 1}`))
  expect(JSON.parse(readFileSync(`${file}.reef-import.json`, 'utf8'))).toMatchObject({ count: RECORDS })
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
  const argv = ['import', file, '--url', url, '--scenario', 's', '--batch-size', '4', ...more]
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
