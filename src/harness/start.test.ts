import { describe, expect, it } from 'vitest'
import type { Adapter, Entry } from '../contract/index.ts'
import { judgeStart, type StartRules } from './start.ts'
import { NOTICE, plain } from './testing/adapters.ts'
import { contentOf } from './tree.ts'

const adapter: Adapter = { ...plain, powers: { kinds: { rules: ['words'], skill: ['words'] }, settings: {}, head: {}, texts: [] } }
const RULES: StartRules = { publish: 'auto', publish_powers: ['words'], review_kinds: [] }
const rule = (text: string, id = 'tone'): Entry => ({ id, name: 'rules', config: { text } })
const judged = (entries: readonly Entry[], rules: Partial<StartRules> = {}, seed: readonly Entry[] = []) =>
  judgeStart(adapter, seed, { ...RULES, ...rules }, contentOf(adapter, entries))

describe('a release from elsewhere', () => {
  it('is served where it holds plain words, or what the seed holds', () => {
    expect(judged([rule('Be brief.')])).toEqual({ kind: 'served' })
    expect(judged([rule('Run `make test`.', 'own')], {}, [rule('Run `make test`.', 'own')])).toEqual({ kind: 'served' })
    expect(judged([])).toEqual({ kind: 'served' })
  })

  it('is served where it lacks what the service ships', () => {
    expect(judged([rule('Be brief.')], {}, [NOTICE])).toEqual({ kind: 'served' })
  })

  it.each<[string, Entry, Partial<StartRules>, string]>([
    ['a power that is not published here', rule('See https://x.example'), {}, 'fetch, run, send or ignore something (orders)'],
    ['a list of powers without words', rule('Be brief.'), { publish_powers: [] }, 'it is plain text for the model (words)'],
    ['review of everything', rule('Be brief.'), { publish: 'review' }, 'evolution.publish holds every release for review'],
    ['review of its kind', rule('Be brief.'), { review_kinds: ['rules'] }, 'evolution.review_kinds holds entries of kind rules for review'],
  ])('is held by %s', (_, entry, rules, why) => {
    expect(judged([entry], rules)).toMatchObject({ kind: 'held', metrics: { held_because: expect.stringContaining(why) } })
  })

  it('is served where its powers are published here', () => {
    expect(judged([rule('See https://x.example')], { publish_powers: ['words', 'orders'] })).toEqual({ kind: 'served' })
  })

  it('is refused where a file is called like a member that every object has', () => {
    const content = contentOf(adapter, [rule('Be brief.')])
    const judge = (name: string) => judgeStart(adapter, [], RULES, Object.fromEntries([...Object.entries(content), [name, 'x']]))
    for (const name of ['__proto__', 'constructor', 'toString']) expect(judge(name)).toMatchObject({ kind: 'refused' })
  })
})
