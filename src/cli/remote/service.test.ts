/** Finding the running service, and what is said when it cannot be reached or says no. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { testServer } from '../../../test/support/server.ts'
import { ownWorld } from '../../../test/support/world.ts'
import { execute, fakeSurroundings } from '../testing/surroundings.ts'
import { serviceAddress } from './address.ts'

const TOKEN = 'a-secret-token'
const UNUSED = 'http://127.0.0.1:2'

const status = (environment: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  execute(['status', ...args], fakeSurroundings({}, environment))

const guarded = () => ownWorld({ settings: { 'svc.token': TOKEN } })

describe('the service is found', () => {
  test('at --url before SVC_URL, with the token of the environment', async () => {
    const { address } = await guarded()
    expect((await status({ SVC_URL: UNUSED, SVC_TOKEN: TOKEN }, '--url', address)).exit).toBe(0)
    expect((await status({ SVC_URL: address, SVC_TOKEN: TOKEN })).exit).toBe(0)
    expect((await status({ SVC_URL: UNUSED, SVC_TOKEN: TOKEN })).exit).toBe(2)
  })

  test('where the configuration says, with the token it says, whatever else this shell lacks', async () => {
    const { address } = await guarded()
    const file = join(temporaryFolder(), 'svc.yaml')
    writeFileSync(file, `svc:\n  port: ${new URL(address).port}\n  tokens: [${TOKEN}, another]\ninference:\n  runtime: provider\n`)
    expect(await status({ SVC_UPSTREAM_URL: '' }, '-c', file)).toMatchObject({ exit: 0, err: [] })
    expect(await status({ SVC_TOKEN: 'wrong' }, '-c', file)).toMatchObject({ exit: 1 })
  })

  test('where an option says, and without any at port 8900', async () => {
    expect((await status({}, '--svc.port', '2')).err).toEqual([expect.stringContaining('http://127.0.0.1:2?')])
    expect((await status({}, '--svc.port', '0')).err).toEqual([
      'svc.port is 0, so the service chose its port: give --url with the address it printed',
    ])
    const commandLine = { given: [], problems: [], rest: [] }
    expect(await serviceAddress({ commandLine }, fakeSurroundings({}, { SVC_UPSTREAM_API: 'nonsense' }))).toEqual({
      url: 'http://127.0.0.1:8900',
      token: null,
    })
  })
})

describe('what goes wrong is one line that ends with what to do', () => {
  test.each([
    [{ SVC_URL: UNUSED }, 2, /^the service cannot be reached \(ECONNREFUSED\): is it running at .*\? Start it with: svc serve$/],
    [{ SVC_URL: 'ftp://x' }, 2, /^url must be an http or https address$/],
    [{ SVC_URL: UNUSED, SVC_TOKEN: 'has blanks' }, 2, /^token holds characters that no token has; copy it again$/],
  ])('%j', async (environment, exit, line) => {
    expect(await status(environment)).toMatchObject({ exit, out: '', err: [expect.stringMatching(line)] })
  })

  test('a token that is missing or wrong, which is never shown', async () => {
    const { address } = await guarded()
    expect(await status({ SVC_URL: address })).toMatchObject({
      exit: 1,
      out: '',
      err: ['the service requires a token: export SVC_TOKEN=…'],
    })
    expect(await status({ SVC_URL: address, SVC_TOKEN: 'wrong' })).toMatchObject({
      exit: 1,
      out: '',
      err: ['the service does not accept this token: export SVC_TOKEN=…'],
    })
  })

  test('another program at that address, whose text does no harm', async () => {
    const other = await testServer((_, response) => response.writeHead(404).end('<html>\u001b[2J\u202e</html>'))
    const err = ['the service answered 404: <html>[U+001B][2J[U+202E]</html>']
    expect(await status({ SVC_URL: other })).toMatchObject({ exit: 1, err })
  })

  test('a token has no option', async () => {
    expect(await status({}, '--token', TOKEN)).toMatchObject({ exit: 2, err: ["unknown option '--token'"] })
  })
})
