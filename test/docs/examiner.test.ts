/** The example of an examiner is loaded by its path and held to its suite, and the suite finds what is wrong with one. */
import { describe, expect, it } from 'vitest'
import { examinerConformance, saying, simulatedCandidate } from '../../conformance/index.ts'
import stillPolite from '../../examples/examiner/still-polite.ts'
import { loadPlugin } from '../../src/config/index.ts'
import type { Examiner } from '../../src/contract/index.ts'

const sound = stillPolite.plugin

describe('examples/examiner/still-polite.ts', () => {
  it('is loaded by its path', async () => {
    expect(await loadPlugin('examiner', './examples/examiner/still-polite.ts', {}, process.cwd())).toBe(sound)
  })

  it.each([
    ['Good morning to you!', true],
    ['What do you want?', false],
  ])('of a candidate that says %s decides %s', async (text, select) => {
    const candidate = simulatedCandidate(saying(text))
    expect(await sound.examine(candidate, new AbortController().signal)).toEqual({ select, metrics: { polite: select } })
  })

  examinerConformance({ describe, it, examiner: sound })
})

let count = 0
const question = { messages: [{ role: 'user', content: 'well?' }] }

describe('its suite', () => {
  it.each<readonly [string, Examiner['examine'], string]>([
    ['no decision', () => Promise.resolve(JSON.parse('{}')), 'it decides'],
    ['metrics that are no JSON', () => Promise.resolve({ select: true, metrics: { score: Number.NaN } }), 'it decides'],
    [
      'trust in the answer',
      (candidate) => candidate.try((tryout) => tryout.chat(question)).then((answer) => JSON.parse(JSON.stringify(answer['x']))),
      'it decides',
    ],
    ['another decision each time', () => Promise.resolve({ select: true, metrics: { count: (count += 1) } }), 'decided on the same'],
    [
      'a hand in the metrics',
      (candidate) => Promise.resolve({ select: true, metrics: Object.assign(candidate.metrics, { loss: 0 }) }),
      'afterwards what it was',
    ],
    ['a blind eye', (candidate, signal) => sound.examine(candidate, signal).catch(() => ({ select: true })), 'cannot be loaded'],
    [
      'ears that are shut',
      async (candidate) => {
        await candidate.try((tryout) => tryout.chat(question)).catch(() => new Promise(() => undefined))
        return { select: true }
      },
      'told to stop',
    ],
  ])('finds an examiner with %s', async (_what, examine, words) => {
    await expect(sentence(words, { examine })()).rejects.toThrow()
  })
})

function sentence(words: string, examiner: Examiner): () => Promise<void> {
  const bodies: (() => Promise<void>)[] = []
  const collect = (name: string, body: () => Promise<void>): void => void (name.includes(words) && bodies.push(body))
  examinerConformance({ describe: (_name, body) => body(), it: collect, examiner })
  const [body] = bodies
  if (body === undefined || bodies.length > 1) throw new Error(`${bodies.length} sentences say: ${words}`)
  return body
}
