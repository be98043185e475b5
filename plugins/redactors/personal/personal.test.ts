/** What is taken out of texts, what stays, and that no text takes long. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactorConformance } from '../../../conformance/index.ts'
import type { Redactor } from '../../../src/contract/index.ts'
import personal from './index.ts'

const make = (config = {}): Redactor => {
  const made = personal.plugin.make(config)
  if (made instanceof Promise) throw new Error('it is made at once')
  return made
}
const redact = (text: string): string => make().open()(text)

redactorConformance({ describe, it, make: () => make(), personal: 'Write to alice@example.com.' })

const CARD = '4111 1111 1111 1111'
const GITHUB = `ghp_${'a1B2c3D4e5'.repeat(4)}`

describe('personal data', () => {
  it.each([
    ['Write to Alice.B+x@Mail.example.com, please', 'Write to [email 1], please'],
    ['mailto:alice%40example.com?subject=x', 'mailto:[email 1]?subject=x'],
    ['jürgen@müller.de und alice＠example.com', '[email 1] und [email 2]'],
    ['<alice@example.com>, "Alice@example.com"', '<[email 1]>, "[email 1]"'],
    ["it's 'bob@example.org'.", "it's '[email 1]'."],
    [`pay with ${CARD} until 12/27`, 'pay with [card 1] until 12/27'],
    ['4111-1111-1111-1111, 5555555555554444, 378282246310005', '[card 1], [card 2], [card 3]'],
    [`12 ${CARD} 2027`, '12 [card 1] 2027'],
    [
      String.raw`print('to:\n4111 1111 1111 1111\n+49 30 901820\t221B Baker Street')`,
      String.raw`print('to:\n[card 1]\n[phone 1]\t[address 1]')`,
    ],
    ['call +49 30 901820 or +1 (415) 555-0100', 'call [phone 1] or [phone 2]'],
    ['(415) 555-0100, 415-555-0101, 0151/23456789', '[phone 1], [phone 2], [phone 3]'],
    ['Phone: 4155550100. Tel.: 030 901820', 'Phone: [phone 2]. Tel.: [phone 1]'],
    [`the key ${GITHUB} is mine`, 'the key [key 1] is mine'],
    ['postgres://app:hunter2zz@db.example.com/x', '[key 1]b.example.com/x'],
    ['I live at 221B Baker Street, London NW1 6XE.', 'I live at [address 1].'],
    ['1600 Pennsylvania Ave, Washington, DC 20500', '[address 1]'],
    ['Er wohnt Hauptstraße 12a, 10115 Berlin, links', 'Er wohnt [address 1], links'],
    ['Unter den Linden; Berliner Straße 5', 'Unter den Linden; [address 1]'],
    ['12 rue de la République, 75001 Paris', '[address 1]'],
  ])('%s', (text, left) => {
    expect(redact(text)).toBe(left)
  })

  it.each([
    'git@github.com:org/repo.git and @scope/package@1.2.3',
    'order 4111111111111112 has 16 digits and no check, 1700000000000000 is a time',
    '2024-11-17 12:30:45, 01-02-2024, 192.168.100.200, v1.23.456, 3.14159265358979',
    '+0.123456789 and -1.5e+10 and 0xdeadbeef',
    'uuid 123e4567-e89b-12d3-a456-426614174000',
  ])('stays: %s', (text) => {
    expect(redact(text)).toBe(text)
  })

  it('has one number for the same data, however it is written, and keeps JSON in a text readable', () => {
    const one = make().open()
    expect(one('4111 1111 1111 1111')).toBe('[card 1]')
    expect(one('4111111111111111 and 5555555555554444')).toBe('[card 1] and [card 2]')
    const inner = String.raw`{"to":"a\nbob@example.com","at":"\u00e9eve@example.com"}`
    expect(JSON.parse(redact(inner))).toEqual({ to: 'a\n[email 1]', at: 'é[email 2]' })
  })

  it('is taken out by the kinds that are asked for', () => {
    expect(make({ kinds: ['cards'] }).open()(`alice@example.com ${CARD}`)).toBe('alice@example.com [card 1]')
    expect(() => make({ kinds: ['names'] })).toThrow(/must be a list of keys, emails, cards, phones, addresses/)
  })

  it('is found in any surroundings', () => {
    const planted = fc.constantFrom('zoe.q@example.org', '4242424242424242', '+49 171 1234567', GITHUB, '17 Cherry Tree Lane')
    const between = fc.string({
      unit: fc.constantFrom(' ', '\n', ', ', '; ', ' and ', ' x ', '"', "'", '(', ')', '<', '>', '\t'),
      minLength: 1,
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(between, planted), { minLength: 1, maxLength: 6 }), (parts) => {
        const left = redact(parts.map(([space, data]) => `${space} ${data} `).join(''))
        for (const [, data] of parts) expect(left).not.toContain(data)
      }),
      { numRuns: 300 },
    )
  })
})

describe('hostile texts', () => {
  /** Reading one of these in more than linear time would take hours. */
  const LONG = 200_000
  it.each([
    ['one letter', 'a'],
    ['at signs', '@'],
    ['almost addresses', 'a@'],
    ['dots', 'a.'],
    ['digits', '4'],
    ['digits in groups', '4 '],
    ['numbers', '4242 31 5 '],
    ['digits and signs', '+1-'],
    ['brackets', '(0'],
    ['names', 'Aa-'],
    ['streets', '1 Aa Aa Aa '],
    ['encoded', '%40a.'],
    ['base64', 'QUJD+4/1'],
    ['escapes', '\\u0041'],
    ['secrets', 'eyJa.'],
  ])('%s', (_, part) => {
    const text = part.repeat(LONG / part.length)
    expect(redact(`${text} zoe@example.org`)).toMatch(/\[email \d+\]$|zoe@example\.org$/)
  })

  it('never makes a text that it would change again', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '@', '.', 'b.com', '4', '1', ' ', '-', '+', '(', ')', 'St', 'Tel ', '\\n') }),
        (text) => {
          const once = redact(text)
          expect(redact(once)).toBe(once)
        },
      ),
      { numRuns: 1000 },
    )
  })
})
