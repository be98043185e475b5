/** What counts as a step result. */
import { describe, expect, it } from 'vitest'
import { parseResult } from './result.ts'

const files = { kind: 'files', files: { 'a.md': 'text' } }

describe('a step result', () => {
  it.each([
    { kind: 'publish', content: files },
    { kind: 'hold', content: { kind: 'checkpoint', path: 'weights/3' } },
    { kind: 'reject' },
    { kind: 'skip', reason: '' },
    { kind: 'fail', error: 'no answer', metrics: { failed_stage: 'proposing' } },
    { kind: 'reject', metrics: { loss: 1 }, state: {}, requires: [{ name: 'x' }, 1] },
  ])('is every verdict there is, with or without what goes beside it: %j', (answer) => {
    expect(parseResult(answer)).toEqual(answer)
  })

  it('loses what the interface does not name', () => {
    const answer = { kind: 'skip', reason: 'none', content: files, mood: 'good', metrics: undefined }
    expect(parseResult(answer)).toStrictEqual({ kind: 'skip', reason: 'none' })
  })

  it('holds metrics as JSON prints them', () => {
    const { metrics } = parseResult({ kind: 'reject', metrics: { loss: Number.NaN, at: new Date(0), call: () => 1 } })
    expect(metrics).toStrictEqual({ loss: null, at: '1970-01-01T00:00:00.000Z' })
  })

  it.each([
    [undefined, /^the trainer's answer is no step result: Invalid input: expected object/],
    [{ kind: 'ship' }, 'kind: Invalid'],
    [{ kind: 'publish' }, 'content: Invalid input'],
    [{ kind: 'publish', content: { kind: 'files', files: { 'a.md': 1 } } }, 'content.files.a.md: Invalid input: expected string'],
    [{ kind: 'hold', content: { kind: 'checkpoint', path: 7 } }, 'content.path: Invalid input: expected string'],
    [
      { kind: 'hold', content: { kind: 'composed', components: { left: 'c1' } } },
      "content.kind: Invalid discriminator value. Expected 'files' | 'checkpoint'",
    ],
    [{ kind: 'skip' }, 'reason: Invalid input: expected string'],
    [{ kind: 'reject', metrics: [] }, 'metrics: must be a plain JSON object'],
    [{ kind: 'reject', metrics: null }, 'metrics: must be a plain JSON object'],
    [{ kind: 'reject', metrics: () => 1 }, 'metrics: must be plain JSON'],
    [{ kind: 'reject', state: { count: 1n } }, 'state: must be plain JSON'],
    [{ kind: 'reject', state: nested(300) }, 'state: must be nested at most 256 deep'],
    // Some versions of Node do not print it.
    [{ kind: 'reject', state: nested(100_000) }, /state: must be (?:plain JSON|nested at most 256 deep)/],
    [{ kind: 'reject', requires: {} }, 'requires: must be an array'],
  ])('is not anything else: %#', (answer, message) => {
    expect(() => parseResult(answer)).toThrow(message)
  })

  it('may not hold more than a row should', () => {
    const metrics = { text: 'ü'.repeat(8 * 1024 * 1024) }
    expect(() => parseResult({ kind: 'reject', metrics })).toThrow(
      "metrics: must print to at most 16 MiB; keep what is larger in the trainer's directory",
    )
  })
})

function nested(levels: number): object {
  let value = {}
  for (let level = 1; level < levels; level += 1) value = { value }
  return value
}
