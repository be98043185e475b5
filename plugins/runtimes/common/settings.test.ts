import { expect, it } from 'vitest'
import { readEngineSettings } from './settings.ts'

it('takes an address and has a value for everything else', () => {
  expect(readEngineSettings('vllm', { url: 'http://127.0.0.1:8000' })).toEqual({
    url: 'http://127.0.0.1:8000',
    model: null,
    apiKey: null,
    capacity: 4,
    adapterPrefix: null,
    rankMax: null,
    vocabulary: 2 ** 31 - 1,
    timeoutSeconds: 300,
  })
})

it.each([
  ['url', {}],
  ['url', { url: 'engine:8000' }],
  ['url', { url: 'http://name:secret@engine' }],
  ['/v1', { url: 'http://engine/v1' }],
  ['url', { url: 'http://engine/?a=secret' }],
  ['model', { url: 'http://engine', model: '' }],
  ['capacity', { url: 'http://engine', capacity: 0 }],
  ['capacity', { url: 'http://engine', capacity: 1.5 }],
  ['timeout_s', { url: 'http://engine', timeout_s: 0 }],
  ['colour', { url: 'http://engine', colour: 'red' }],
])('refuses a wrong %s and names it: %j', (key, config) => {
  expect(() => readEngineSettings('vllm', config)).toThrow(key)
  expect(() => readEngineSettings('vllm', config)).not.toThrow('secret')
})
