import dns from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { afterEach, describe, expect, it } from 'vitest'
import { INSIDE_ADDRESS, InsideAddresses, isAddressRange } from './inside-address.ts'

const NONE = new InsideAddresses([])
const SOME = new InsideAddresses(['Ollama', '10.1.0.0/16', '127.0.0.1', 'fd00::/8', '::1'])

const real = dns.lookup
afterEach(() => void Reflect.set(dns, 'lookup', real))

describe('an address of the inside is refused', () => {
  it.each([
    'http://127.0.0.1',
    'http://127.1.2.3:8080',
    'http://0.0.0.0',
    'http://10.0.0.1',
    'http://100.64.0.1',
    'http://168.63.129.16',
    'http://169.254.169.254/latest',
    'http://172.16.0.1',
    'http://172.31.255.255',
    'http://192.168.1.1',
    'http://192.0.0.192',
    'http://192.88.99.1',
    'http://192.88.99.255',
    'http://198.18.0.1',
    'http://224.0.0.1',
    'http://255.255.255.255',
    'https://localhost',
    'http://LOCALHOST.',
    'http://a.localhost',
    'http://[::1]',
    'http://[::]',
    'http://[fe80::1]',
    'http://[fec0::1]',
    'http://[fd00:ec2::254]',
    'http://[ff02::1]',
    'http://[64:ff9b:1::1]',
    'http://[2001:0:7f00:1::]',
  ])('%s', (url) => {
    expect(NONE.refusesHost(url)).toBe(true)
  })
})

describe('and so is one that only looks different', () => {
  it.each([
    'http://2130706433',
    'http://0x7f000001',
    'http://0177.0.0.1',
    'http://127.1',
    'http://127.0.0.1.',
    'http://①②⑦.0.0.1',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[0:0:0:0:0:ffff:0a00:0001]',
    'http://[::ffff:0:127.0.0.1]',
    'http://[::127.0.0.1]',
    'http://[64:ff9b::7f00:1]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[2002:7f00:1::]',
    'http://[2002:a9fe:a9fe::1]',
    'http://[2002:c058:6301::]',
  ])('%s', (url) => {
    expect(NONE.refusesHost(url)).toBe(true)
  })
})

describe('an address outside is not', () => {
  it.each([
    'https://api.example.com',
    'https://8.8.8.8',
    'https://172.32.0.1',
    'https://100.128.0.1',
    'https://192.88.98.255',
    'https://192.88.100.1',
    'https://[2606:4700::1111]',
    'https://[64:ff9b::808:808]',
    'https://[::ffff:8.8.8.8]',
    'https://[2002:808:808::1]',
    'https://localhost.example.com',
  ])('%s', (url) => {
    expect(NONE.refusesHost(url)).toBe(false)
  })
})

it.each([
  ['http://ollama:11434', false],
  ['http://OLLAMA', false],
  ['http://10.1.2.3', false],
  ['http://10.2.0.1', true],
  ['http://127.0.0.1', false],
  ['http://[::ffff:127.0.0.1]', false],
  ['http://127.0.0.2', true],
  ['http://[fd12::1]', false],
  ['http://[fe80::1]', true],
])('of what is allowed, %s is refused: %s', (url, refused) => {
  expect(SOME.refusesHost(url)).toBe(refused)
})

/** What a name server answers. */
function answers(...addresses: readonly string[]): void {
  const rows: LookupAddress[] = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  Reflect.set(dns, 'lookup', (_name: string, _options: unknown, callback: (error: null, rows: LookupAddress[]) => void) =>
    callback(null, rows),
  )
}
const resolved = (inside: InsideAddresses, name: string, all: boolean) =>
  new Promise((resolve, reject) => {
    inside.lookup(name, { all }, (error, address, family) => (error === null ? resolve(all ? address : [address, family]) : reject(error)))
  })

describe('a name', () => {
  it.each([[['10.0.0.1']], [['8.8.8.8', '127.0.0.1']], [['2606:4700::1111', '::1']], [['::ffff:169.254.169.254']], [['fe80::1%eth0']]])(
    'that leads to %j is refused when it is resolved',
    async (addresses) => {
      answers(...addresses)
      for (const all of [true, false]) await expect(resolved(NONE, 'rebinds.example', all)).rejects.toMatchObject({ code: INSIDE_ADDRESS })
    },
  )

  it('that leads outside is connected to the address that was looked at', async () => {
    answers('8.8.8.8', '2606:4700::1111')
    expect(await resolved(NONE, 'api.example', false)).toEqual(['8.8.8.8', 4])
    expect(await resolved(NONE, 'api.example', true)).toMatchObject([{ address: '8.8.8.8' }, { address: '2606:4700::1111' }])
  })

  it('that is allowed may lead anywhere, and an allowed range is enough for any name', async () => {
    answers('192.168.0.9')
    expect(await resolved(SOME, 'ollama', false)).toEqual(['192.168.0.9', 4])
    answers('10.1.0.9')
    expect(await resolved(SOME, 'other.example', false)).toEqual(['10.1.0.9', 4])
  })

  it('without an address is not known', async () => {
    answers()
    await expect(resolved(NONE, 'nothing.example', false)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })
})

it.each([
  ['10.0.0.0/8', true],
  ['::1', true],
  ['fd00::/8', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['name', false],
])('%s is a range: %s', (text, is) => {
  expect(isAddressRange(text)).toBe(is)
})
