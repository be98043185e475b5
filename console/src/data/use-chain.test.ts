import { describe, expect, it } from 'vitest'
import type { CatalogRow } from '@svc-ai/client'
import { grownCatalog, grownReleases } from './use-chain.ts'
import { rowOf } from './testing/rows.ts'

const PAGE = 2

/** A service of these rows, oldest first, two a page, and how many rows it was asked for. */
function serviceOf(rows: readonly CatalogRow[]) {
  const read = { rows: 0 }
  const page = (found: readonly CatalogRow[]) => {
    const releases = found.slice(0, PAGE)
    read.rows += releases.length
    return Promise.resolve({ releases, next: found.length > PAGE ? (releases.at(-1)?.step ?? null) : null })
  }
  return {
    read,
    catalogPage: ({ after_step = -1 } = {}) => page(rows.filter(({ step }) => step > after_step)),
    releasePage: ({ before_step = Infinity } = {}) => page(rows.filter(({ step }) => step < before_step).toReversed()),
  }
}

const chain = (steps: number, served: number) => Array.from({ length: steps }, (_, step) => rowOf(step, { current: step === served }))

const offered = (provisional: boolean, steps: number) => chain(steps, 0).map((row) => (row.step === 4 ? { ...row, provisional } : row))

const LISTS = [
  ['catalog', grownCatalog, (rows: readonly CatalogRow[]) => rows],
  ['releases', grownReleases, (rows: readonly CatalogRow[]) => rows.toReversed()],
] as const

describe('a list that grows', () => {
  it.each(LISTS)('%s: is read whole once, and then no further back than what is known', async (_name, grow, inOrder) => {
    const first = serviceOf(chain(9, 3))
    const known = await grow(first, [])
    expect(known).toEqual(inOrder(chain(9, 3)))
    const same = serviceOf(chain(9, 3))
    expect(await grow(same, known)).toEqual(known)
    const later = serviceOf(chain(12, 10))
    expect(await grow(later, known)).toEqual(inOrder(chain(12, 10)))
    expect([first.read.rows, same.read.rows <= PAGE, later.read.rows <= 3 + PAGE]).toEqual([9, true, true])
  })

  it.each(LISTS)('%s: of another scenario of the same name is read anew', async (_name, grow, inOrder) => {
    const known = await grow(serviceOf(chain(9, 3)), [])
    for (const count of [2, 9, 12]) {
      const others = chain(count, 0).map((row) => ({ ...row, recorded_at: row.recorded_at + 1, release_id: `other-${row.step}` }))
      expect(await grow(serviceOf(others), known)).toEqual(inOrder(others))
    }
  })

  it.each(LISTS)(
    '%s: a provisional release that ended meanwhile is no longer one, however many steps ago it was made',
    async (_name, grow, inOrder) => {
      const known = await grow(serviceOf(offered(true, 7)), [])
      expect(await grow(serviceOf(offered(true, 8)), known)).toEqual(inOrder(offered(true, 8)))
      expect(await grow(serviceOf(offered(false, 9)), known)).toEqual(inOrder(offered(false, 9)))
    },
  )
})
