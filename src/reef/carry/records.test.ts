/** A member replaced in the text of an object. */
import { expect, it } from 'vitest'
import { withMember } from './records.ts'

const replaced = (json: string, key: string, value: string): string => Buffer.from(withMember(Buffer.from(json), key, value)).toString()

it('replaces the member of that name at the top alone, and leaves every other byte', () => {
  const json = '{"seed":12345678901234567890,"a":{"response":1},"b":["response",{"response":[]}], "response" : {"x":"}\\"],"} ,"z":1.0}'
  expect(replaced(json, 'response', '{}')).toBe(
    '{"seed":12345678901234567890,"a":{"response":1},"b":["response",{"response":[]}], "response" :{},"z":1.0}',
  )
})

it('replaces the last of two, finds an escaped name, and adds none', () => {
  expect(replaced('{"r":1,"r":2}', 'r', '3')).toBe('{"r":1,"r":3}')
  expect(replaced('{"\\u0072":"r"}', 'r', '3')).toBe('{"\\u0072":3}')
  expect(replaced('{"a":"r"}', 'r', '3')).toBe('{"a":"r"}')
  expect(replaced('{}', 'r', '3')).toBe('{}')
})
