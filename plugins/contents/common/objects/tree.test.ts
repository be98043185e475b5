/** Trees of any shape: written, read back, and named by what they are. */
import { array, assert, asyncProperty, constantFrom, oneof, string, stringMatching, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import type { Files } from '../../../../src/contract/index.ts'
import { freshPath, fsck, open } from '../../git/testing/repositories.ts'

const segment = oneof(constantFrom('a', 'b', 'a.b', 'a-', 'é', '__proto__'), stringMatching(/^[a-z0-9 _.~-]{1,8}$/u)).filter(
  (name) => !/^\.|~1/.test(name),
)
const arbitraryFiles = array(tuple(array(segment, { minLength: 1, maxLength: 4 }), string({ unit: 'binary', maxLength: 40 })), {
  maxLength: 12,
})
  .map((pairs) => Object.fromEntries(pairs.map(([segments, text]) => [segments.join('/'), text])) as Files)
  .filter((files) => Object.keys(files).every((path) => !Object.keys(files).some((other) => other.startsWith(`${path}/`))))

it('any tree of files is read back, git agrees with its id, and equal files alone have equal ids', async () => {
  const path = freshPath()
  const store = await open(path)
  const seen = new Map<string, string>()
  await assert(
    asyncProperty(arbitraryFiles, async (files) => {
      const id = await store.write({ kind: 'files', files })
      expect({ ...(await store.read(id)) }).toEqual(files)
      const text = JSON.stringify(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      expect(seen.get(id) ?? text).toBe(text)
      seen.set(id, text)
    }),
    { numRuns: 150 },
  )
  expect(new Set(seen.values()).size).toBe(seen.size)
  fsck(path)
})
