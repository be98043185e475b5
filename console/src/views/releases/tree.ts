/** What differs between two trees of files. Pure. */

export interface FileChange {
  readonly path: string
  readonly kind: 'added' | 'removed' | 'changed'
  readonly before: string
  readonly after: string
}

type Files = Readonly<Record<string, string>>

/** In the order of their paths; files that are the same in both are left out. */
export function changesBetween(before: Files, after: Files): readonly FileChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return paths.flatMap((path) => {
    const [was, is] = [own(before, path), own(after, path)]
    if (was === is) return []
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'
    return [{ path, kind, before: was ?? '', after: is ?? '' }]
  })
}

/** A path may be called like something that every object has. */
const own = (files: Files, path: string): string | undefined => (Object.hasOwn(files, path) ? files[path] : undefined)

/** "1 file changes, 2 are added" */
export function summaryOf(changes: readonly FileChange[]): string {
  const count = (kind: FileChange['kind']): number => changes.filter((change) => change.kind === kind).length
  const parts = [
    [count('changed'), 'changed'],
    [count('added'), 'added'],
    [count('removed'), 'removed'],
  ] as const
  const told = parts.flatMap(([files, word]) => (files === 0 ? [] : [`${files} ${files === 1 ? 'file' : 'files'} ${word}`]))
  return told.length === 0 ? 'no file differs' : told.join(', ')
}
