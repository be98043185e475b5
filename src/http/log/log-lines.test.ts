/** Lines for a person: what is in them, what is left out, and that nobody's text can act on the terminal. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../contract/index.ts'
import { personLine } from './log-lines.ts'

const PLAIN = { colours: false }
const lineOf = (event: string, fields: JsonObject, level = 'info'): string | null => personLine(level, event, fields, 0, PLAIN)
const painted = (status: number): string | null => personLine('info', 'request', { ...call, status }, 0, { colours: true })
const call = { id: 'x', method: 'POST', route: '/v1/chat/completions', status: 200, ms: 412.345 }

describe('the line of a request', () => {
  it('has the time, method, route, scenario, status, milliseconds and tokens', () => {
    const line = lineOf('request', { ...call, scenario: 'support', receipt: 'r', input_tokens: 120, output_tokens: 31 })
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}POST {4}\/v1\/chat\/completions {2}support {2}200 {2}412 ms {2}120 → 31 tokens\n$/)
    expect(lineOf('request', { ...call, ms: 0.25, output_tokens: 3 })).toMatch(/200 {2}0\.3 ms {2}\? → 3 tokens\n$/)
  })

  it('of a refusal has its code and cause, and of an unknown route the path', () => {
    expect(lineOf('request', { ...call, status: 503, code: 'disk_full', cause: 'ENOSPC' }, 'warn')).toMatch(
      /503 {2}412 ms {2}disk_full: ENOSPC\n$/,
    )
    expect(lineOf('request', { ...call, method: 'GET', route: 'unknown', path: '/nowhere', status: 404, code: 'unknown_route' })).toContain(
      'GET     /nowhere  404',
    )
  })

  it.each(['GET', 'HEAD', 'OPTIONS'])('is left out of a %s that succeeded: consoles ask again and again', (method) => {
    expect(lineOf('request', { ...call, method, route: '/svc/status' })).toBeNull()
    expect(lineOf('request', { ...call, method, route: '/svc/status', status: 401 })).not.toBeNull()
  })

  it('is coloured by its status where colours are wanted', () => {
    expect(painted(200)).toContain('\u001b[32m200\u001b[0m')
    expect(painted(404)).toContain('\u001b[33m404\u001b[0m')
    expect(painted(502)).toContain('\u001b[31m502\u001b[0m')
  })
})

describe('the line of an event', () => {
  it('is its name in words, its message and what else it has', () => {
    expect(lineOf('records_evicted', { scenario: 'support', records: 3, bytes: 12 }, 'warn')).toMatch(
      / {2}records evicted: scenario support, records 3, bytes 12\n$/,
    )
    expect(lineOf('background_error', { message: 'a ref is late', error: 'ETIMEDOUT' }, 'warn')).toMatch(
      / {2}background error: a ref is late: error ETIMEDOUT\n$/,
    )
  })

  it('has the stack of a bug in lines of its own', () => {
    expect(lineOf('failure', { id: 'x', stack: 'Error: boom\nat one\nat two' }, 'error')).toMatch(
      / {2}failure: id x\n {4}Error: boom\n {4}at one\n {4}at two\n$/,
    )
  })
})

const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value))

it('holds nothing that a terminal acts on, whatever a client sent', () => {
  const text = fc.string({ unit: 'binary' })
  const fields = fc.dictionary(text, fc.oneof(text, fc.jsonValue()))
  fc.assert(
    fc.property(fc.constantFrom('request', 'failure', 'step'), fields, text, (event, more, scenario) => {
      const made = lineOf(event, { method: 'POST', status: 200, ...plain(more), scenario }) ?? ''
      // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
      expect(made.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
    }),
  )
})
