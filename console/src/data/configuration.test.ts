import { describe, expect, it } from 'vitest'
import { isAbout, keysAbout, valueText } from './configuration.ts'

const key = (name: string, value: string | number = 1) => ({ key: name, value, origin: 'default' })

describe('the settings about a topic', () => {
  const keys = [
    key('evolution.max_steps', 0),
    key('recipes.mine.evolution.max_steps', 7),
    key('evolution.publish', 'auto'),
    key('svc.port'),
  ]

  it('are those of the recipe, or else those at the top of the file', () => {
    expect(keysAbout({ keys }, 'budgets', 'mine')).toMatchObject([{ value: 7 }])
    expect(keysAbout({ keys }, 'budgets', 'harness')).toMatchObject([{ value: 0 }])
    expect(keysAbout({ keys }, 'rollout', 'mine')).toMatchObject([{ value: 'auto' }])
    expect(keysAbout({ keys: [] }, 'budgets', null)).toEqual([])
  })

  it('are known by their names, whichever recipe they are of', () => {
    expect(keys.filter((one) => isAbout(one, 'budgets')).length).toBe(2)
    expect(isAbout(key('svc.max_steps'), 'budgets')).toBe(false)
  })
})

it.each([
  ['text', 'text'],
  [['a', 1], '["a",1]'],
  [undefined, ''],
])('a value %j is shown as %s', (value, shown) => {
  expect(valueText(value)).toBe(shown)
})
