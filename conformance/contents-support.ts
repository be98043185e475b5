/** Shared by the content store suites: a store per test, a tree and a mark. */
import type { ContentStore, Files, Release, SealMark } from '../src/contract/index.ts'
import type { Runner } from './support.ts'

export interface ContentsSuite extends Runner {
  /** A new empty store. */
  readonly make: () => ContentStore | Promise<ContentStore>
}

export const TREE: Files = {
  'AGENTS.md': 'be brief\n',
  'skills/b/SKILL.md': '# b\n',
  'skills/a.md': 'unicode: é 𝄞 \u0000 \ufeff',
  'skills/a/empty': '',
  'skills-more': 'sorts between a folder and its files',
  '\ufeffodd ünïcode/𝄞': 'names are text too',
  __proto__x: 'x',
}

export const MARK: SealMark = { step: 3, operation: 'train', at: 1_763_180_000.75 }

/** Gives each test a store and closes it. */
export function over({ it, make }: ContentsSuite): (name: string, body: (store: ContentStore) => Promise<void>) => void {
  return (name, body) =>
    it(name, async () => {
      const store = await make()
      try {
        await body(store)
      } finally {
        await store.close()
      }
    })
}

export const written = (store: ContentStore, files: Files): Promise<string> => store.write({ kind: 'files', files })

export async function sealed(store: ContentStore, files: Files, parent: Release | null, mark: SealMark): Promise<Release> {
  return store.seal(await written(store, files), parent, mark)
}

/** A release of another store. */
export const stranger = (contentId: string): Release => ({ release_id: '1'.repeat(40), parent_release_id: null, content_id: contentId })
