import { parse as parseYaml } from 'yaml'
import { expect, test } from 'vitest'
import { bound } from './binding.ts'

const source = { placeholders: { url: '@URL@', token: '@TOKEN@' }, binding: { 'a.json': '{"url": "@URL@/v1", "key": "@TOKEN@"}' } }

test('a value stays inside its quotes, whatever is in it', () => {
  const url = 'http://host/"\\\n$&\u2028'
  const { 'a.json': text = '' } = bound(source, { url, token: 'a.b~c+d/e=f:g@h-i' })
  expect(JSON.parse(text)).toEqual({ url: `${url}/v1`, key: 'a.b~c+d/e=f:g@h-i' })
  expect(parseYaml(text)).toEqual(JSON.parse(text))
})

test('a value that spells a placeholder is left as it is', () => {
  const { 'a.json': text = '' } = bound(source, { url: 'http://@TOKEN@', token: 'secret' })
  expect(JSON.parse(text)).toEqual({ url: 'http://@TOKEN@/v1', key: 'secret' })
})

test.each([null, '', 'a b', 'a"b', 'a\nb', 'é', '$(x)'])('in place of the token %j stands the word for none', (token) => {
  const { 'a.json': text = '' } = bound(source, { url: 'http://h', token })
  expect(JSON.parse(text)).toEqual({ url: 'http://h/v1', key: 'svc-no-token' })
})
