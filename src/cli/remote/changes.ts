/** What the files of a scenario's clients would become, file by file. */
import { diffLines } from 'diff'
import { ServiceFailure, type Manifest, type Svc } from '@svc-ai/client'
import { oneLine } from '../screen/text.ts'
import { several } from '../screen/words.ts'

const FILES_SHOWN_MAX = 12
/** Two texts may differ in a way that takes long to count. */
const COUNT_MILLISECONDS_MAX = 200

/** Null for a scenario that serves no files, or a release whose files cannot be pulled. */
export async function changesBetween(svc: Svc, from: string, to: string): Promise<readonly string[] | null> {
  const [before, after] = await Promise.all([filesOf(svc, from), filesOf(svc, to)])
  if (before === null || after === null) return null
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const lines = paths.flatMap((path) => changeOf(path, before[path], after[path]) ?? [])
  if (lines.length === 0) return ['no file changes']
  const more = lines.length - FILES_SHOWN_MAX
  return more > 0 ? [...lines.slice(0, FILES_SHOWN_MAX), `and ${several(more, 'file')} more`] : lines
}

async function filesOf(svc: Svc, releaseId: string): Promise<Manifest['files'] | null> {
  try {
    return (await svc.manifest(releaseId)).files
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 404) return null
    throw error
  }
}

function changeOf(path: string, before: string | undefined, after: string | undefined): string | null {
  const name = oneLine(path)
  if (before === after) return null
  if (before === undefined) return `new      ${name}`
  if (after === undefined) return `removed  ${name}`
  return `changed  ${name}${linesCounted(before, after)}`
}

function linesCounted(before: string, after: string): string {
  const parts = diffLines(before, after, { timeout: COUNT_MILLISECONDS_MAX })
  if (parts === undefined) return ''
  const count = (kind: 'added' | 'removed'): number => parts.filter((part) => part[kind]).reduce((sum, part) => sum + part.count, 0)
  return ` (+${count('added')} -${count('removed')})`
}
