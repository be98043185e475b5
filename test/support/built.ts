/** What was just built of a module of ours. `scripts/test.mjs` builds and says so; without it, as in a plain run of vitest, nothing was. */
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = dirname(dirname(import.meta.dirname))
const ROOMS = /^(?:src|plugins)\b/

export const IS_BUILT = process.env['TEST_THREADS'] === 'built'

/** Before the first module of a thread or a process: what its plug-ins import of ours is then built, too. */
export const WITH_BUILT: readonly string[] = IS_BUILT ? ['--import', new URL('built-modules.ts', import.meta.url).href] : []

/** Null where a module is only part of what is built. */
export function builtOf(source: string): string | null {
  if (!IS_BUILT || !source.startsWith('file:')) return null
  const file = relative(ROOT, fileURLToPath(source))
  if (!ROOMS.test(file)) return null
  const built = join(ROOT, 'dist', file.replace(/\.ts$/, '.js'))
  return existsSync(built) ? pathToFileURL(built).href : null
}

/** A program in one file, as it ships, in place of the source it is made from. */
export const programOf = (source: string, built: string): string => (IS_BUILT ? built : source)
