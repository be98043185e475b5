import { describe, expect, it } from 'vitest'
import { PROPOSAL_MUTATIONS_MAX } from '../../contract/index.ts'
import { objectIn, replyIn } from './reply.ts'

const rule = { id: 'style', name: 'rules', config: { text: 'Be brief. [1] {2}' } }
const array = JSON.stringify([{ design: 'less words' }, rule, { id: 'old', remove: true }, { requires: [{ name: 'A', kind: 'env' }] }])
const whole = { design: 'less words', entries: [rule], removes: ['old'], requires: [{ name: 'A', kind: 'env' }] }

describe('a reply', () => {
  it.each([
    ['bare', array],
    ['in a code fence', `Here it is:\n\`\`\`json\n${array}\n\`\`\`\nDone.`],
    ['after prose with brackets', `As noted [1], {roughly} "so":\n${array}\n[2] see above`],
    ['after an example that is no JSON', `The format [{"design": …}] is kept:\n${array}`],
    ['after an object of its own', `{"thought": "one rule"}\n${array}`],
    ['spread over lines', JSON.stringify(JSON.parse(array), null, 2)],
  ])('is one JSON array, %s [decisions.proposer-reply]', (_how, text) => {
    expect(replyIn(text)).toEqual(whole)
  })

  it('that is a single object is a single entry', () => {
    expect(replyIn(`Sure: ${JSON.stringify(rule)}`)).toMatchObject({ entries: [rule], removes: [] })
  })

  it.each([
    ['no JSON', 'I would rather not.', 'must hold one JSON array'],
    ['a word', '', 'must hold one JSON array'],
    ['an end', array.slice(0, -20), 'breaks off'],
    ['an end within a text', '[{"design": "so', 'breaks off'],
    ['sound JSON', '[{"id": "a", "name": "rules", "config": {"text": "a "quoted" word"}}]', 'does not parse'],
    ['an entry', '[{"design": "nothing to do"}]', 'holds no entry'],
  ])('without %s is none, with a reason for the model', (_what, text, reason) => {
    expect(replyIn(text)).toContain(reason)
  })

  it('whose array breaks off is not taken for the part of it that is whole', () => {
    expect(replyIn(`[{"design": "x"}, ${JSON.stringify(rule)}, {"id": "b", "na`)).toContain('breaks off')
  })
})

describe('a hostile reply', () => {
  it.each([
    ['100 MB of text', 'x'.repeat(100 * 1024 * 1024), 'at most'],
    ['a million entries', `[${'{"name":1},'.repeat(300_000)}{}]`, `at most ${PROPOSAL_MUTATIONS_MAX} entries`],
    ['a million open brackets', '[{'.repeat(1_000_000), 'nested'],
    ['a million open brackets that are no JSON', '['.repeat(2_000_000), 'must hold one JSON array'],
    ['a million quotes', `[{"a":${'"'.repeat(2_000_001)}`, 'breaks off'],
    ['a million objects that do not parse', '{"a"}'.repeat(500_000), 'does not parse'],
    ['a bomb of arrays', `[{"config":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`, 'nested'],
    ['a million backslashes', `[{"a": "${'\\'.repeat(1_000_000)}`, 'breaks off'],
  ])('of %s is refused with a reason', (_what, text, reason) => {
    expect(replyIn(text)).toContain(reason)
  })

  it('with a field __proto__ changes no prototype', () => {
    const reply = replyIn('[{"__proto__": {"polluted": true}, "id": "a", "name": "rules", "config": {"__proto__": {"polluted": true}}}]')
    expect(reply).toMatchObject({ entries: [{ id: 'a' }] })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('an object in a text', () => {
  it('is the first that reads as JSON', () => {
    expect(objectIn('So {this} is it:\n```json\n{"result": "complete"}\n```')).toEqual({ result: 'complete' })
  })

  it('that is not there is a reason', () => {
    expect(objectIn('complete')).toContain('must hold one JSON')
    expect(objectIn('[{"result": "complete"}]')).toContain('must hold one JSON object')
  })
})
