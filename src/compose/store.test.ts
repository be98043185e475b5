/** What the configured store is given: keys only where it can use them, and a refusal where it cannot do what is asked. */
import { expect, test } from 'vitest'
import { read } from '../config/testing/reading.ts'
import { storeSettings } from './store.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const settingsOf = (text: string, plugin: { readonly encrypts?: true }, key?: string) =>
  storeSettings(read({ text, environment: key === undefined ? {} : { SVC_SECRET_KEY: key } }), plugin)

test('gives the key to a store that encrypts, also to read what it encrypted before, and to no other', () => {
  expect(settingsOf('storage: {encrypt_bodies: true}', { encrypts: true }, KEY)).toMatchObject({ secret_key: KEY, encrypt: true })
  expect(settingsOf('', { encrypts: true }, KEY)).toMatchObject({ secret_key: KEY, encrypt: false })
  expect(settingsOf('', {}, KEY)).not.toHaveProperty('secret_key')
  expect(settingsOf('', { encrypts: true })).not.toHaveProperty('encrypt')
})

test('refuses to encrypt without a key, and in a store that cannot, in one line that says what to do', () => {
  expect(() => settingsOf('storage: {encrypt_bodies: true}', { encrypts: true })).toThrow(
    /^storage\.encrypt_bodies needs a key: set SVC_SECRET_KEY .*openssl rand -base64 32.*$/,
  )
  expect(() => settingsOf('storage: {encrypt_bodies: true, record_backend: memory}', {}, KEY)).toThrow(
    'storage.encrypt_bodies: the store memory encrypts nothing; sqlite and postgres do',
  )
})
