/** Finds what runs in sandboxes of this run: the folder of its episode, which no other run has, is mounted there. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Scene } from './cast.ts'

export function sandboxed({ temporary }: Pick<Scene, 'temporary'>): readonly number[] {
  const mark = `${basename(dirname(temporary))}/${basename(temporary)}/`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && textAt(`/proc/${name}/mountinfo`).includes(mark))
    .map(Number)
}

/** It may have ended meanwhile. */
function textAt(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
