/** Conversations put together from exchanges, and the person's own words in them. */
import { describe, expect, it } from 'vitest'
import { ownWords } from '../dialects/index.ts'
import { Threads } from './index.ts'
import { exchangeOf, type TalkTurn } from './testing/talks.ts'

const threadsOf = (talks: readonly (readonly [id: string, said: readonly TalkTurn[], session?: string])[], bytesMax?: number) => {
  const threads = new Threads(bytesMax)
  for (const [id, said, session] of talks) threads.add(id, exchangeOf(said, 'messages', session === undefined ? {} : { session }))
  return threads.all().map(({ session, exchanges, isBegunAgain }) => ({ session, ids: exchanges.map(({ id }) => id), isBegunAgain }))
}

const [HELLO, HI, MORE] = [{ person: 'Write a poem on rain' }, { agent: 'Rain…' }, { person: 'Shorter' }]

describe('threads', () => {
  it('are exchanges that go on with what was said before', () => {
    expect(
      threadsOf([
        ['a', [HELLO, HI], 's'],
        ['x', [{ person: 'A title for this' }, HI], 's'],
        ['b', [HELLO, HI, MORE, HI], 's'],
        ['c', [HELLO, HI], 't'],
      ]),
    ).toEqual([
      { session: 's', ids: ['x'], isBegunAgain: false },
      { session: 's', ids: ['a', 'b'], isBegunAgain: false },
      { session: 't', ids: ['c'], isBegunAgain: false },
    ])
  })

  it('are begun again where the same is asked from the start', () => {
    expect(
      threadsOf([
        ['a', [HELLO, HI]],
        ['b', [HELLO, HI, MORE, HI]],
        ['c', [HELLO, HI]],
      ]),
    ).toEqual([
      { session: null, ids: ['a', 'b'], isBegunAgain: true },
      { session: null, ids: ['c'], isBegunAgain: false },
    ])
  })

  it('with tools and without are apart: agents ask on the side', () => {
    const threads = new Threads()
    threads.add('side', exchangeOf([HELLO, HI]))
    threads.add('main', { ...exchangeOf([HELLO, HI]), tools: [{ type: 'function', function: { name: 'read' } }] })
    expect(threads.all().map(({ isBegunAgain }) => isBegunAgain)).toEqual([false, false])
  })

  it('that rested longest are given up where there are too many', () => {
    const many = Array.from({ length: 50 }, (_, n) => [`${n}`, [{ person: `Request ${n}` }, { agent: 'x'.repeat(1000) }]] as const)
    expect(threadsOf(many, 5000).map(({ ids }) => ids[0])).toEqual(['46', '47', '48', '49'])
  })

  it('know the session also where the body has metadata of another shape', () => {
    const threads = new Threads()
    threads.add('a', { ...exchangeOf([HELLO, HI]), metadata: 'x', metadata_tags: { session: 's' } })
    expect(threads.all()[0]?.session).toBe('s')
  })
})

describe('own words', () => {
  it.each([
    ['Fix it.<system-reminder>Be brief.</system-reminder>', 'Fix it.'],
    ['<environment_context>\n<cwd>/a</cwd>\n</environment_context>', ''],
    ['<permissions instructions>x</permissions instructions>Go', 'Go'],
    ['# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>x</INSTRUCTIONS>', ''],
    ['<Instructions>a</instructions> b <instructionsOf>c</instructionsOf>', 'b <instructionsOf>c</instructionsOf>'],
    ['Why is <system-reminder> in my file?', 'Why is <system-reminder> in my file?'],
  ])('of %j are %j', (text, own) => expect(ownWords(text)).toBe(own))

  it('of a text of many beginnings are found at once', () => {
    const text = '<system-reminder>'.repeat(20_000)
    expect(ownWords(text)).toBe(text)
  })
})
