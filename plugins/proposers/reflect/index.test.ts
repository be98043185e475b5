import { describe, expect, it } from 'vitest'
import { proposerConformance } from '../../../conformance/index.ts'
import { plain } from '../../../src/harness/testing/adapters.ts'
import reflect from './index.ts'
import { modelOf, replyOf } from './testing.ts'

const served = modelOf(...Array.from({ length: 50 }, (_, index) => replyOf(`brief-${index}`, `Be brief, reason ${index}.`)))

const proposer = await reflect.plugin.make({})

describe('conformance', () => {
  proposerConformance({
    describe,
    it,
    proposer,
    adapter: plain,
    entries: [{ id: 'tone', name: 'rules', config: { text: 'Keep a calm tone.' } }],
    models: { served },
  })
})

describe('settings', () => {
  it.each([{ trials_max: -1 }, { candidates_max: 0 }, { candidates_max: 1.5 }, { trails_max: 3 }, 'many'])('refuse %j', (given) => {
    expect(() => reflect.plugin.make({ reflect: given })).toThrow('evolution.reflect')
  })

  it('may be left out, in part or as a whole', () => {
    expect(() => reflect.plugin.make({})).not.toThrow()
    expect(() => reflect.plugin.make({ reflect: { trials_max: 0 } })).not.toThrow()
  })
})
