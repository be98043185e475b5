/** How the files of a scenario's clients would change, file by file. */
import { ServiceFailure, type Manifest, type Svc } from '@svc-ai/client'
import { compare, filesBetween, timeFor, type FileChange } from '../../presentation/index.ts'
import { oneLine } from '../screen/text.ts'
import { several } from '../screen/words.ts'

const FILES_SHOWN_MAX = 12
/** Counting the lines of one file takes no longer. */
const COUNT_MILLISECONDS_MAX = 200

/** Null for a scenario that serves no files, or a release whose files cannot be pulled. */
export async function changesBetween(svc: Svc, from: string, to: string): Promise<readonly string[] | null> {
  const [before, after] = await Promise.all([filesOf(svc, from), filesOf(svc, to)])
  if (before === null || after === null) return null
  const lines = filesBetween(before, after).map(lineOf)
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

function lineOf({ path, kind, before, after }: FileChange): string {
  const diff = kind === 'changed' ? compare(before, after, { timeLeft: timeFor(COUNT_MILLISECONDS_MAX) }) : null
  return `${kind.padEnd(7)}  ${oneLine(path)}${diff === null ? '' : ` (+${diff.added} -${diff.removed})`}`
}
