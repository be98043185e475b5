/** Writes a text file whole, with the folders it needs. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

interface Arguments {
  readonly path: string
  readonly content: string
}

export function run({ path, content }: Arguments, workdir: string): string {
  const place = resolve(workdir, path)
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, content)
  return `${path} is written (${content.split('\n').length} lines)`
}
