/** Replaces one text in a file, which must be there exactly once unless all are meant. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

interface Arguments {
  readonly path: string
  readonly old_text: string
  readonly new_text: string
  readonly all?: boolean
}

export function run({ path, old_text: before, new_text: after, all = false }: Arguments, workdir: string): string {
  const place = resolve(workdir, path)
  const text = readFileSync(place, 'utf8')
  const found = before === '' ? 0 : text.split(before).length - 1
  if (found === 0) throw new Error(`old_text is not in ${path}; read the file and copy it exactly`)
  if (found > 1 && !all) throw new Error(`old_text is in ${path} ${found} times; give more of its surroundings, or set all`)
  writeFileSync(
    place,
    text.replaceAll(before, () => after),
  )
  return `${path}: ${found} ${found === 1 ? 'place' : 'places'} changed`
}
