/** `pull`, `report` and `status` as a person meets them. */
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sharedFolder, temporaryFolder } from '../../../test/support/folder.ts'
import { world } from '../../../test/support/world.ts'
import { fakeService, type Behaviour } from '../testing/fake-service.ts'
import { run as runCommand } from '../testing/files.ts'
import { deployment, signedManifest } from '../testing/signed.ts'
import type { Requires } from '../wire.generated.ts'

const TOKEN = 'a-secret-token'

describe('pull', () => {
  it('writes the tree and what it wrote, and says so; again it writes nothing and says that', async () => {
    const folder = join(temporaryFolder(), 'new', 'tree')
    const served = manifest('r1', { 'b.md': 'b', 'a/ü.md': 'a' })
    const service = await fakeService(served, served)
    expect(await run(['pull', folder, ...at(service.url)])).toEqual({
      code: 0,
      out: `release r1 is in ${folder}: 2 files written, 0 removed\nkey ${DEPLOYMENT.fingerprint} of ${service.url} is trusted here from now on\n`,
      err: '',
    })
    expect(readFileSync(join(folder, 'a/ü.md'), 'utf8')).toBe('a')
    expect(JSON.parse(readFileSync(join(folder, '.svc-harness-release'), 'utf8'))).toEqual({
      release_id: 'r1',
      content_id: 'content-r1',
      files: ['a/ü.md', 'b.md'],
      trust: { key: DEPLOYMENT.fingerprint, step: expect.any(Number) as unknown, release_id: 'r1' },
    })
    expect(await run(['pull', folder, ...at(service.url)])).toMatchObject({
      code: 0,
      out: `${folder} holds release r1 already; nothing was written\n`,
    })
    expect(service.requests[0]).toMatchObject({
      path: '/svc/harness',
      headers: { authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': 's' },
    })
  })

  it('of another release writes and removes what differs, and with --json lists it', async () => {
    const folder = temporaryFolder()
    const service = await fakeService(manifest('r1', { a: '1', b: '1' }), manifest('r 2', { a: '1', c: '1' }))
    await run(['pull', folder, ...at(service.url)])
    const { out } = await run(['pull', folder, ...at(service.url), '--release', 'r 2', '--json'])
    expect(JSON.parse(out)).toEqual({
      ok: true,
      folder,
      url: service.url,
      scenario: 's',
      release_id: 'r 2',
      content_id: 'content-r 2',
      current: false,
      written: ['c'],
      removed: ['b'],
      requires: [],
      key: DEPLOYMENT.fingerprint,
    })
    expect(service.requests[1]?.path).toBe('/svc/harness?release_id=r+2')
    expect(readdirSync(folder).toSorted()).toEqual(['.svc-harness-release', 'a', 'c'])
  })

  it('names what the release needs of the machine', async () => {
    const requires: readonly Requires[] = [{ name: 'API', kind: 'env', prompt: 'Set it\u001b[2J.' }]
    const service = await fakeService(manifest('r1', {}, requires))
    expect((await run(['pull', temporaryFolder(), ...at(service.url)])).out).toContain('\nneeds env API: Set it[U+001B][2J.\n')
  })

  it.each([
    ['a path that climbs out', manifest('r', { ok: 'x', '../evil': 'x' }), /nothing was written: path "\.\.\/evil"/],
    ['two paths that are one', manifest('r', { A: 'x', a: 'x' }), /same file/],
    ['a file behind a link', manifest('r', { 'link/evil': 'x' }), /symbolic link/],
    ['no manifest', { status: 200, body: '{"ok":true}' }, /not this service's/],
    ['a manifest that breaks off', { status: 200, body: '{"release_id":"r"', cut: 'length' }, /broke off/],
    ['a refusal', { status: 404, body: '{"error":{"message":"unknown release"}}' }, /404: unknown release/],
  ] satisfies [string, Behaviour, RegExp][])('of %s fails with status 1 and leaves the folder as it was', async (_, behaviour, message) => {
    const parent = temporaryFolder()
    const folder = join(parent, 'tree')
    const service = await fakeService(manifest('before', { mine: 'x' }), behaviour)
    await run(['pull', folder, ...at(service.url)])
    symlinkSync(parent, join(folder, 'link'))
    const before = readdirSync(folder)
    const { code, err, out } = await run(['pull', folder, ...at(service.url), '--json'])
    expect(code).toBe(1)
    expect(err).toMatch(message)
    expect(JSON.parse(out)).toMatchObject({ ok: false, folder, error: expect.stringMatching(message) as unknown })
    expect(readdirSync(folder)).toEqual(before)
    expect(existsSync(join(parent, 'evil'))).toBe(false)
  })

  it('into a cloned folder pins the key that arrives, not the one that a release file there names', async () => {
    const folder = temporaryFolder()
    const trust = { key: `ed25519:${'A'.repeat(43)}`, step: 0, release_id: 'r' }
    writeFileSync(join(folder, 'mine'), '')
    writeFileSync(join(folder, '.svc-harness-release'), JSON.stringify({ release_id: 'r', content_id: 'c', files: ['mine'], trust }))
    const service = await fakeService(manifest('r', { a: 'x' }))
    const { code, out } = await run(['pull', folder, ...at(service.url)])
    expect([code, out]).toEqual([0, expect.stringContaining(`key ${DEPLOYMENT.fingerprint} of ${service.url} is trusted here`)])
    expect(readdirSync(folder).toSorted()).toEqual(['.svc-harness-release', 'a', 'mine'])
  })

  it('into something that is no folder fails with the system’s words', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    const service = await fakeService(manifest('r', { a: 'x' }))
    expect(await run(['pull', file, ...at(service.url)])).toMatchObject({ code: 1, err: expect.stringContaining('EEXIST') as unknown })
  })
})

describe('report', () => {
  it('sends the score, the words and the receipts, and says under which id it is stored', async () => {
    const receipt = { agent_record_id: 'mine', scenario: 's', request_type: 'report' }
    const service = await fakeService({ status: 200, body: JSON.stringify(receipt) }, { status: 200, body: JSON.stringify(receipt) })
    const words = ['--score', '-0.5', '--feedback', 'too long', '--reference', 'a', '--reference', 'b', '--id', 'mine']
    expect(await run(['report', ...at(service.url), ...words])).toEqual({ code: 0, out: 'report mine is stored for scenario s\n', err: '' })
    const report = { score: -0.5, feedback: 'too long', references: ['a', 'b'], agent_record_id: 'mine' }
    expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual(report)
    const { out } = await run(['report', ...at(service.url), '--score', '1', '--json'])
    expect(JSON.parse(out)).toEqual({ ok: true, url: service.url, ...receipt })
    expect(JSON.parse(service.requests[1]?.body ?? '')).toEqual({ score: 1, references: [] })
  })

  it('that the service refuses ends with its words', async () => {
    const service = await fakeService({ status: 400, body: '{"error":{"message":"references[0]: unknown","code":"unknown_reference"}}' })
    const { code, err } = await run(['report', ...at(service.url), '--score', '1'])
    expect(code).toBe(1)
    expect(err).toBe('svc-client: the service answered 400: references[0]: unknown\n')
  })
})

describe('status', () => {
  const scenarios = {
    scenarios: [
      { scenario: 'asleep', loaded: false, recipe: 'record-only' },
      { scenario: 'support', loaded: true, recipe: 'evolve', release_id: 'a'.repeat(40), training_mode: 'hybrid' },
    ],
  }
  const status = {
    error: 'support: step 2 failed\nsupport: and again',
    preload_errors: { asleep: 'disk gone' },
    scenarios: { support: { scenario_step: 3, last_committed_step: { step: 2, recorded_at: 1, metrics: {} } } },
  }
  const row = { release_id: 'a', content_id: 'c', operation: 'train' }
  const releases = [
    { ...row, step: 3, operation: 'rollback', result: 'published' },
    { ...row, step: 2, result: 'rejected' },
  ]

  it('is a table with the errors above it', async () => {
    const service = await answering({ '/svc/scenarios': scenarios, '/svc/status': status, '/svc/scenarios/support/releases': { releases } })
    const { code, out } = await run(['status', '--url', service])
    expect(code).toBe(0)
    expect(out).toBe(
      [
        'error: support: step 2 failed',
        'error: support: and again',
        'error: scenario asleep cannot be loaded: disk gone',
        '',
        'SCENARIO  RECIPE       RELEASE       MODE    STEP  LAST RESULT',
        'asleep    record-only  -             -       -     -',
        'support   evolve       aaaaaaaaaaaa  hybrid  3     rejected',
        '',
      ].join('\n'),
    )
  })

  it('of one scenario is that line alone, and of none a failure', async () => {
    const service = await answering({ '/svc/scenarios': scenarios, '/svc/status': status, '/svc/scenarios/support/releases': { releases } })
    const { out } = await run(['status', '--url', service, '--scenario', 'support', '--json'])
    expect(JSON.parse(out)).toEqual({
      ok: true,
      url: service,
      error: status.error,
      preload_errors: status.preload_errors,
      scenarios: [
        { scenario: 'support', recipe: 'evolve', release_id: 'a'.repeat(40), training_mode: 'hybrid', step: 3, last_result: 'rejected' },
      ],
    })
    expect(await run(['status', '--url', service, '--scenario', 'missing'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no scenario missing') as unknown,
    })
  })

  it('of a real service shows what is there, and asks for the token it lacks', async () => {
    const real = await world({ settings: { 'svc.token': TOKEN } })
    try {
      expect((await run(['status', '--url', real.address])).out).toBe('no scenario yet\n')
      const stored = await run(['report', '--url', real.address, '--scenario', 'first', '--score', '1', '--id', 'x'])
      expect(stored.out).toBe('report x is stored for scenario first\n')
      expect((await run(['status', '--url', real.address])).out).toMatch(/\nfirst +record-only +[0-9a-f]{12} +auto +0 +-\n$/)
      const { code, err } = await run(['status', '--url', real.address], 'wrong-token')
      expect(code).toBe(1)
      expect(err).toMatch(/answered 401.*set SVC_TOKEN/)
      expect(err).not.toContain('wrong-token')
    } finally {
      await real.close()
    }
  })
})

it('a service that cannot be reached is a failure of every command, with the question whether it runs', async () => {
  const nowhere = ['--url', 'http://127.0.0.1:2']
  for (const argv of [['pull', 'x', '--scenario', 's'], ['report', '--scenario', 's', '--score', '1'], ['status']]) {
    const { code, err } = await run([...argv, ...nowhere])
    expect(code).toBe(1)
    expect(err).toBe('svc-client: the service cannot be reached (ECONNREFUSED): is it running at http://127.0.0.1:2?\n')
  }
})

const at = (url: string): readonly string[] => ['--url', url, '--scenario', 's']

const manifest = (release: string, files: Readonly<Record<string, string>>, requires: readonly Requires[] = []): Behaviour => ({
  status: 200,
  body: JSON.stringify(
    signedManifest(
      DEPLOYMENT,
      { release_id: release, content_id: `content-${release}`, step: release === 'before' ? 0 : ++steps },
      { files, requires },
    ),
  ),
})

const DEPLOYMENT = deployment()
/** Each manifest is of a newer step; the same release again is the same one. */
let steps = 0

/** A service that answers by path. */
async function answering(answers: Readonly<Record<string, unknown>>): Promise<string> {
  const service = await fakeService()
  service.onArrived = (path) => service.script.push({ status: 200, body: JSON.stringify(answers[path.replace(/\?.*/, '')]) })
  return service.url
}

const HOME = sharedFolder()
const run = (argv: readonly string[], token = TOKEN) => runCommand(argv, { SVC_TOKEN: token, HOME })
