/** The command as a test runs it, and source files for it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { main } from '../main.ts'

/** The command in this process, which never waits between two attempts. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv = {}) {
  let [out, err] = ['', '']
  const streams = { stdout: { write: (text: string) => (out += text) }, stderr: { write: (text: string) => (err += text) } }
  const code = await main(argv, env, streams, { wait: async () => undefined })
  return { code, out, err }
}

export const envelope = (id: string): string => JSON.stringify({ agent_record_id: id, request_type: 'inference', payload: { n: id } })

export const envelopes = (count: number): string => Array.from({ length: count }, (_, index) => `${envelope(`r${index + 1}`)}\n`).join('')

export function sourceFile(content: string | Uint8Array): string {
  const path = join(temporaryFolder(), 'records.jsonl')
  writeFileSync(path, content)
  return path
}
