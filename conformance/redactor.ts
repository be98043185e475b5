/** Conformance suite for redactors, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import type { Redactor } from '../src/contract/index.ts'
import type { Runner } from './support.ts'

export interface RedactorSuite extends Runner {
  readonly make: () => Redactor | Promise<Redactor>
  /** A text in which it finds something. */
  readonly personal: string
}

const PLAIN = ['', ' ', 'the cat sat on the mat', '{"a":[1,2,3]}', 'naïve 𝄞 \ud83d']

export function redactorConformance({ it, make, personal }: RedactorSuite): void {
  it('what it finds is taken out, and what it finds nothing in stays', async () => {
    const redactor = await make()
    assert.notEqual(redactor.open()(personal), personal, 'it found nothing in the text that has something')
    for (const text of PLAIN) assert.equal(redactor.open()(text), text)
  })
  it('the same record always gives the same words, whatever came before', async () => {
    const [one, other] = [await make(), await make()]
    const texts = [personal, ...PLAIN, `${personal} ${personal}`]
    const before = texts.map(one.open())
    assert.deepEqual(texts.map(one.open()), before, 'a record before it changed what it gives')
    assert.deepEqual(texts.map(other.open()), before, 'another one of the same settings gives other words')
  })
  it('what it leaves is text that JSON and UTF-8 can hold', async () => {
    const left = (await make()).open()(personal)
    assert.equal(typeof left, 'string')
    assert.ok(left.isWellFormed())
  })
}
