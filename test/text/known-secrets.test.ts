/** The secrets that a service was given leave it through no door, whoever says them back. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { execute, fakeSurroundings } from '../../src/cli/testing/surroundings.ts'
import { wholeLines } from '../../src/http/log/log.ts'
import { knowSecrets, withoutSecrets, wordsOf } from '../../src/kit/index.ts'
import { FORM_NAMES, SECRETS } from '../fixtures/training/leaking.ts'
import { fresh } from '../spec/support/trainee.ts'
import { temporaryFolder } from '../support/folder.ts'
import { sharedWorld } from '../support/world.ts'

const token = SECRETS['the token of the service']
const here = sharedWorld({
  settings: {
    recipe: join(import.meta.dirname, '../fixtures/training/leaking.ts'),
    'svc.tokens': JSON.stringify([token, SECRETS['a second token']]),
    'inference.upstream_api_key': SECRETS['the upstream key'],
    'inference.gateway.url': 'http://127.0.0.1:9',
    'inference.gateway.api_key': SECRETS['the key of the gateway'],
    'inference.engine.api_key': SECRETS['the key of an engine'],
    'training.trainer_api_key': SECRETS['the key of a trainer'],
    'traces.headers.authorization': SECRETS['a header of the collector'],
  },
  environment: { DEPLOY_TOKEN: SECRETS['a variable of the environment'] },
  headers: { authorization: `Bearer ${token}` },
})

/** Twelve characters of a secret, in any case, as they are, without marks, and as their bytes in Base64 and hexadecimal. */
function expectNone(text: string): void {
  const plain = text.toLowerCase()
  const letters = plain.replaceAll(/[^a-z0-9]/g, '')
  for (const secret of Object.values(SECRETS)) {
    expect(plain).not.toContain(secret.slice(0, 12).toLowerCase())
    expect(plain).not.toContain(secret.slice(-12).toLowerCase())
    expect(plain).not.toContain(encodeURIComponent(secret).toLowerCase())
    expect(plain).not.toContain(Buffer.from(secret).toString('hex').slice(0, 24))
    expect(letters).not.toContain(
      secret
        .replaceAll(/[^A-Za-z0-9]/g, '')
        .slice(0, 12)
        .toLowerCase(),
    )
    for (const run of text.match(/[A-Za-z0-9+/_-]{20,}/g) ?? []) expect(Buffer.from(run, 'base64').toString('latin1')).not.toContain(secret)
  }
}

describe('a trainer that says every secret', () => {
  it.each(['skip', 'throw', 'reject'])(
    'in a step that ends by %s: row, releases, status, records, pages, progress and log',
    async (how) => {
      const trainee = await fresh(here, undefined, {
        model: { url: here.upstream.url, api_key: SECRETS['the key of a scenario'] },
      })
      await trainee.reported({ score: 0, feedback: how })
      const row = await trainee.row(1)
      expect(JSON.stringify(row)).toContain('[redacted]')
      expectNone(JSON.stringify(row))
      const scenario = `/svc/scenarios/${trainee.name}`
      const pages = [
        '/svc/status',
        `${scenario}/commits`,
        `${scenario}/releases`,
        `${scenario}/records`,
        `${scenario}/contract`,
        '/metrics',
      ]
      for (const path of pages) expectNone((await here.get(path)).text)
      expectNone(JSON.stringify(here.log))
    },
  )
})

describe.each(Object.entries(SECRETS))('%s', (_, secret) => {
  const spelt: Readonly<Record<string, string>> = {
    whole: `it was ${secret}.`,
    'its first twelve characters': `it begins ${secret.slice(0, 12)} and`,
    'in upper case': secret.toUpperCase(),
    'in Base64': Buffer.from(`user:${secret}`).toString('base64'),
    'for an address': encodeURIComponent(secret),
    'in hexadecimal': Buffer.from(secret).toString('hex'),
    'with spaces': Array.from(secret).join(' '),
    'over lines': secret.replaceAll(/.{5}/g, '$&\n'),
    'escaped for JSON': Array.from(secret, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join(''),
    'with zero-width spaces': Array.from(secret).join('\u200b'),
    backwards: Array.from(secret).toReversed().join(''),
  }
  it.each(Object.keys(spelt))('%s: is in no error text and in no line of the log', (form) => {
    knowSecrets([secret])
    const text = spelt[form] ?? ''
    expectNone(withoutSecrets(text))
    expectNone(wordsOf(new Error(text)))
    expect(withoutSecrets(text)).toContain('[redacted]')
  })
})

it.each(['EMPTY', 'inference', 'Password'])('a key that is one short word stays in texts: %s', (word) => {
  knowSecrets([word])
  expect(wordsOf(new Error(`check ${word}.upstream_url`))).toBe(`check ${word}.upstream_url`)
})

it('a fixture of every form is tried', () => {
  expect(FORM_NAMES).toHaveLength(8)
})

describe('lines of plug-ins on standard error', () => {
  it('a secret that is printed in pieces is found in its line', () => {
    const secret = SECRETS['the upstream key']
    knowSecrets([secret])
    const passed: string[] = []
    const lines = wholeLines((text) => passed.push(withoutSecrets(text)))
    for (const letter of `key ${secret} end\nnext`) lines.take(letter)
    lines.end()
    expect(passed).toEqual(['key [redacted] end\n', 'next'])
  })

  it('a line that never ends is passed on', () => {
    const passed: string[] = []
    const lines = wholeLines((text) => passed.push(text))
    lines.take('x'.repeat(70_000))
    expect(passed).toHaveLength(1)
  })
})

describe('svc doctor', () => {
  it('names a plug-in and an upstream that fail without the secrets that they say', async () => {
    const secret = SECRETS['the upstream key']
    const folder = temporaryFolder()
    const surroundings = {
      ...fakeSurroundings({}, { HOME: folder, SVC_UPSTREAM_URL: 'http://127.0.0.1:9', SVC_UPSTREAM_API_KEY: secret }),
      parts: () =>
        Promise.resolve([
          {
            part: 'runtime mine',
            problems: [{ found: `it said ${secret}`, fix: `ask ${Buffer.from(secret).toString('base64')}` }],
            warnings: [secret],
            asksModels: false,
          },
        ]),
    }
    for (const args of [['doctor'], ['doctor', '--json']]) {
      const { out, err } = await execute(args, surroundings)
      expect(out).toContain('[redacted]')
      expectNone(out + err.join('\n'))
    }
  })
})
