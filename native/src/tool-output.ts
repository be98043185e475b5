/** What the model is shown of a long result: its beginning and its end, and where the whole of it lies. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RESULT_CHARACTERS_MAX, RESULT_TAIL_CHARACTERS } from './limits.ts'
import type { Turn } from './turn.ts'

const FOLDER = join('.svc', 'tool-output')

export function kept({ scene, log, messages }: Turn, content: string): string {
  if (content.length <= RESULT_CHARACTERS_MAX) return content
  const place = save(scene.workdir, `${log.name}-${messages.length}.txt`, content)
  const head = content.slice(0, RESULT_CHARACTERS_MAX - RESULT_TAIL_CHARACTERS)
  const left = content.length - RESULT_CHARACTERS_MAX
  return `${head}\n\n[${left} characters are left out here; ${place}]\n\n${content.slice(-RESULT_TAIL_CHARACTERS)}`.toWellFormed()
}

/** A disk without room must not cost the turn. */
function save(workdir: string, name: string, content: string): string {
  try {
    mkdirSync(join(workdir, FOLDER), { recursive: true })
    writeFileSync(join(workdir, FOLDER, name), content)
    return `the whole text is in ${join(FOLDER, name)}`
  } catch {
    return 'the whole text could not be saved'
  }
}
