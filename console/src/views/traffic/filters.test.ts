/** What the address narrows the traffic to, and views saved under a name. */
import { describe, expect, it } from 'vitest'
import { searchOf, type FilterValues } from './filters.ts'
import { keptFilters, removeView, savedViews, saveView } from './saved-views.ts'

const NONE: FilterValues = { text: '', model: '', tag: '', status: '', least: '', highest: '', since: '', release: '' }
const NOW = 1_800_000_030

describe('a search', () => {
  it('asks for what the filters say', () => {
    expect(
      searchOf(
        { text: 'refund', model: 'm', tag: 'user:a:b', status: 'broken_off', least: '-1', highest: '0.5', since: '24h', release: 'r' },
        NOW,
      ),
    ).toEqual({
      text: 'refund',
      model: 'm',
      tag: ['user:a:b'],
      status: 'broken_off',
      min_score: -1,
      max_score: 0.5,
      since: 1_800_000_000 - 86_400,
      release_id: 'r',
    })
  })

  it('is none where nothing is asked, and where a hostile address asks nonsense', () => {
    expect(searchOf(NONE, NOW)).toBeNull()
    expect(
      searchOf({ ...NONE, text: '"-*', tag: 'user', status: 'constructor', least: '1e999', highest: 'NaN', since: '__proto__' }, NOW),
    ).toBeNull()
  })
})

const storage = (kept: string | null = null) => {
  let value = kept
  return {
    getItem: () => value,
    setItem: (_: string, text: string) => {
      value = text
    },
  }
}

describe('saved views', () => {
  it('keep what the traffic is narrowed to, and not what is open in it', () => {
    const here = storage()
    expect(saveView(here, { name: 'bad', filters: 'highest=0.3&at=7&find=x&type=inference&group=session' })).toBe(true)
    expect(savedViews(here)).toEqual([{ name: 'bad', filters: 'highest=0.3&type=inference&group=session' }])
  })

  it('are replaced by name, listed newest first, and removed', () => {
    const here = storage()
    for (const [name, filters] of [
      ['a', 'text=1'],
      ['b', 'text=2'],
      ['a', 'text=3'],
    ] as const)
      saveView(here, { name, filters })
    expect(savedViews(here)).toEqual([
      { name: 'a', filters: 'text=3' },
      { name: 'b', filters: 'text=2' },
    ])
    removeView(here, 'a')
    expect(savedViews(here).map(({ name }) => name)).toEqual(['b'])
  })

  it.each(['', 'null', '{', '7', '[1,{"name":"x"},{"name":"","filters":""},{"name":"ok","filters":"text=1"}]'])(
    'are read from %j without harm',
    (kept) => {
      expect(savedViews(storage(kept)).every(({ name, filters }) => name === 'ok' && filters === 'text=1')).toBe(true)
    },
  )

  it('say so where the browser keeps nothing', () => {
    const full = { getItem: () => null, setItem: () => expect.unreachable('full') }
    expect(saveView(full, { name: 'a', filters: '' })).toBe(false)
    expect(keptFilters('javascript:alert(1)=x&text=%3Cscript%3E')).toBe('text=%3Cscript%3E')
  })
})
