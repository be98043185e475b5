/** Reads a text file, or a part of one, with its lines as they are. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

interface Arguments {
  readonly path: string
  readonly offset?: number
  readonly limit?: number
}

export function run({ path, offset = 1, limit = 2000 }: Arguments, workdir: string): string {
  const place = resolve(workdir, path)
  if (statSync(place).isDirectory()) return readdirSync(place).sort().join('\n')
  const lines = readFileSync(place, 'utf8').split('\n')
  const start = Math.max(Math.trunc(offset) - 1, 0)
  const part = lines.slice(start, start + limit)
  const left = lines.length - start - part.length
  return left > 0 ? `${part.join('\n')}\n[${left} more lines; go on with offset ${start + part.length + 1}]` : part.join('\n')
}
