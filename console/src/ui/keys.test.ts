import { describe, expect, it } from 'vitest'
import { meant, opens, type KeyMap } from './keys.ts'

const said: string[] = []
const map = (...names: string[]): KeyMap => Object.fromEntries(names.map((name) => [name, () => void said.push(name)]))
const under: KeyMap = { Escape: () => void said.push('under'), ...map('g s', 'j') }
const over: KeyMap = { Escape: () => void said.push('over') }

describe('strokes', () => {
  it('of one key are answered by the newest map that knows it', () => {
    said.length = 0
    for (const key of ['Escape', 'j']) meant([under, over], null, { key, at: 0 })?.()
    expect(said).toEqual(['over', 'j'])
  })

  it('of two keys are one when the second comes soon', () => {
    expect(meant([under], { key: 'g', at: 0 }, { key: 's', at: 2500 })).toBe(under['g s'])
    expect(meant([under], { key: 'g', at: 0 }, { key: 's', at: 2501 })).toBeNull()
  })

  it('that begin no pair are taken for themselves', () => {
    expect(meant([under], { key: 'g', at: 0 }, { key: 'j', at: 1 })).toBe(under['j'])
  })

  it('named like a member of every object mean nothing', () => {
    expect(meant([under], null, { key: 'constructor', at: 0 })).toBeNull()
  })

  it('that may begin a pair are known', () => {
    expect([opens([under], 'g'), opens([under], 'j')]).toEqual([true, false])
  })
})
