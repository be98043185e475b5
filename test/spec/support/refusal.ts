/** Checks the shape of a refusal. */
import { expect } from 'vitest'
import type { Answer } from '../../support/world.ts'
import { errorOf, textAt } from './helpers.ts'

/** A file path, a stack line, or an internal module. */
const LEAK = /\/(?:work|home|tmp|usr|var|root)\/|\bat \w+.*:\d+:\d+|node_modules|\.ts\b/

/** Status, shape, request id, retry advice, and a message without internals. */
export function expectRefusal(answer: Answer, status: number, code: string | null, isMessages = false): void {
  const error = errorOf(answer)
  expect({ status: answer.status, code: error['code'] ?? null, text: answer.text }).toMatchObject({
    status,
    code: isMessages ? null : code,
  })
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/)
  expect(answer.headers['content-type']).toBe('application/json')
  expect(Object.keys(answer.json)).toEqual(isMessages ? ['type', 'error'] : ['error'])
  expect(Object.keys(error).sort()).toEqual(isMessages ? ['message', 'type'] : ['code', 'message', 'type'])
  expect(error['type']).toMatch(/^[a-z_]+$/)
  expect(textAt(error, 'message').length).toBeGreaterThan(10)
  expect(answer.text).not.toMatch(LEAK)
  expect(answer.headers['x-should-retry']).toBe(status === 409 ? 'false' : undefined)
}
