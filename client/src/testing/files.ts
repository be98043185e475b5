/** Source files for tests, in folders that go with the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export const envelope = (id: string): string => JSON.stringify({ agent_record_id: id, request_type: 'inference', payload: { n: id } })

export const envelopes = (count: number): string => Array.from({ length: count }, (_, index) => `${envelope(`r${index + 1}`)}\n`).join('')

export function sourceFile(content: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), 'client-import-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'records.jsonl')
  writeFileSync(path, content)
  return path
}
