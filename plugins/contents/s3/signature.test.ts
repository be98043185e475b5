/** The examples that Amazon publishes with its description of the signature, digit by digit. */
import { expect, it } from 'vitest'
import { pathText, signedHeaders, type UnsignedRequest } from './signature.ts'

const KEY = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', sessionToken: null }
const AT = new Date('2013-05-24T00:00:00Z')

const signatureOf = (request: Partial<UnsignedRequest>): string => {
  const whole = {
    method: 'GET',
    host: 'examplebucket.s3.amazonaws.com',
    path: '/',
    query: {},
    headers: {},
    body: new Uint8Array(),
    ...request,
  }
  return signedHeaders(whole, KEY, 'us-east-1', AT)['authorization']?.split('Signature=')[1] ?? ''
}

it('an object is read in part', () => {
  expect(signatureOf({ path: '/test.txt', headers: { range: 'bytes=0-9' } })).toBe(
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  )
})

it('an object is written, under a name that needs encoding', () => {
  const headers = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' }
  expect(signatureOf({ method: 'PUT', path: pathText('/test$file.text'), headers, body: Buffer.from('Welcome to Amazon S3.') })).toBe(
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  )
})

it('a question with a parameter without a value, and one with several', () => {
  expect(signatureOf({ query: { lifecycle: '' } })).toBe('fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543')
  expect(signatureOf({ query: { prefix: 'J', 'max-keys': '2' } })).toBe('34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7')
})

it('a key that is lent for a while sends its token, signed', () => {
  const headers = signedHeaders(
    { method: 'GET', host: 'h', path: '/', query: {}, headers: {}, body: new Uint8Array() },
    { ...KEY, sessionToken: 'lent' },
    'us-east-1',
    AT,
  )
  expect(headers['x-amz-security-token']).toBe('lent')
  expect(headers['authorization']).toContain('SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,')
})
