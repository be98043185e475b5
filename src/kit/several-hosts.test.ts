import { expect, it } from 'vitest'
import { addressesIn } from './several-hosts.ts'

it.each([
  ['postgres://u:p@one:1,two:2/db?sslmode=disable', ['postgres://u:p@one:1/db?sslmode=disable', 'postgres://u:p@two:2/db?sslmode=disable']],
  ['postgres://one/db?a=b@c,d', ['postgres://one/db?a=b@c,d']],
  ['postgres://u:a%40b@[::1]:5,two/db', ['postgres://u:a%40b@[::1]:5/db', 'postgres://u:a%40b@two/db']],
  ['postgres://u@one,:/db', []],
  ['one,two', []],
  ['', []],
])('%s is an address for each host', (text, addresses) => {
  expect(addressesIn(text).map(({ href }) => href)).toEqual(addresses)
})
