/** A man in the middle of a connection with TLS, against the real wrapper and the real install line: whatever he answers, nothing is applied. */
import { createServer } from 'node:http'
import { join } from 'node:path'
import { checkedInstallLine, installLine } from '@svc-ai/client/signing'
import type { Manifest } from '@svc-ai/client'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deployment, signedManifest } from '../../client/src/testing/signed.ts'
import { sharedFolder } from '../support/folder.ts'
import { closeServer, listenOnLoopback } from '../support/listen.ts'
import { authority, standBetween, type Authority, type Between, type PassedOn } from './between.ts'
import { jsonAt, sharedInstallWorld, TOKEN, type Scenario } from './install-world.ts'
import { makeMachine, stateOf, type Ended, type Machine } from './machine.ts'

const world = sharedInstallWorld()
const [certificates, place] = [sharedFolder(), sharedFolder()]
const elsewhere = createServer((request, response) => {
  asked.push(request.headers.authorization ?? '')
  response.end('{\n: >"$MACHINE/ran"\n}\n')
})
/** What the attacker's own server without TLS was asked with. */
const asked: string[] = []

let own: Authority
let theirs: Authority
let between: Between
let scenario: Scenario
let other: Scenario
let machine: Machine
let plain = ''
let newest = ''
const old = new Map<string, PassedOn>()

const isScript = (path: string): boolean => path.startsWith('/svc/harness/install?')
const isAboutTokens = (path: string): boolean => path === '/svc/caller' || path === '/svc/tokens'
const svc = (args: readonly string[]): Promise<Ended> => machine.command(args, { env: trusting() })
const trusting = () => ({ SVC_TOKEN: TOKEN, NODE_EXTRA_CA_CERTS: own.file, CURL_CA_BUNDLE: own.file })

/** `curl … | env SVC_KEY=… sh`, as it is shown. */
async function pasted(to: Machine, make: typeof installLine): Promise<Ended> {
  const shown = await world.here.get('/svc/harness/install/line', {
    authorization: `Bearer ${TOKEN}`,
    'x-svc-scenario': scenario.name,
  })
  const key = /SVC_KEY=(\S+)/.exec(shown.text)?.[1] ?? ''
  const line = make({ url: between.url, adapter: 'pi', scenario: scenario.name, key, hasToken: true, args: [to.destination, to.prefix] })
  return to.run(['sh', '-c', line], { env: trusting() })
}

/** Once for all: an install that is one release behind, and what it was answered with before. */
beforeEach(async () => {
  if (plain !== '') return
  own = authority(certificates, 'own')
  theirs = authority(certificates, 'theirs')
  plain = `http://127.0.0.1:${await listenOnLoopback(elsewhere)}`
  between = await standBetween(world.here.address, own.certificate('localhost'))
  scenario = await world.scenario('followed')
  other = await world.scenario('another')
  await other.order('Say please.')
  machine = makeMachine(process.execPath, place)
  between.tamper = (answer) => {
    if (!isAboutTokens(answer.path)) old.set(isScript(answer.path) ? 'script' : 'manifest', answer)
    return answer
  }
  expect(await pasted(machine, installLine)).toMatchObject({ code: 0 })
  expect(await svc(['update'])).toMatchObject({ code: 0, out: expect.stringContaining('already current') })
  between.tamper = null
  await scenario.order('Be brief.')
  expect(await svc(['update'])).toMatchObject({ code: 0 })
  newest = await scenario.order('Be kind.')
}, 60_000)

afterEach(() => {
  between.tamper = null
  between.show(own.certificate('localhost'))
})

afterAll(async () => {
  await between.close()
  await closeServer(elsewhere)
})

type Tamper = (answer: PassedOn) => PassedOn | Promise<PassedOn>
const edited =
  (edit: (manifest: Manifest) => unknown): Tamper =>
  (answer) =>
    isScript(answer.path) ? answer : { ...answer, text: JSON.stringify(edit(JSON.parse(answer.text))) }
const inScript =
  (edit: (script: string) => string): Tamper =>
  (answer) =>
    isScript(answer.path) ? { ...answer, text: edit(answer.text) } : answer
const instead =
  (kind: 'manifest' | 'script'): Tamper =>
  (answer) =>
    (kind === 'script') === isScript(answer.path) ? (old.get(kind) ?? answer) : answer
const redirected =
  (status: number, to: () => string): Tamper =>
  ({ path }) => ({ path, status, text: '{\n: >"$MACHINE/ran"\n}\n', headers: { location: `${to()}${path}` } })

const resigned = edited((manifest) => {
  const { scenario: name, adapter, step } = JSON.parse(manifest.signed.statement)
  const { release_id, content_id, parent_release_id, requires } = manifest
  const files = { ...manifest.files, 'pi-agent/AGENTS.md': 'evil\n' }
  const about = { scenario: name, adapter, step, release_id, content_id, parent_release_id }
  return { ...manifest, files, signed: signedManifest(deployment(), about, { files, requires }).signed }
})
const rotatedByHim = edited((manifest) => {
  const he = deployment()
  const forged = {
    statement: JSON.stringify({ key: JSON.parse(manifest.signed.statement).key, kind: 'rotation', next: he.signer.key, time: 1 }),
    signature: 'A'.repeat(86),
  }
  const { scenario: name, adapter, step } = JSON.parse(manifest.signed.statement)
  const { files, requires, release_id, content_id } = manifest
  const { signed } = signedManifest(he, { scenario: name, adapter, step, release_id, content_id }, { files, requires })
  return { ...manifest, signed: { ...signed, rotations: [forged] } }
})

const WITH_A_TRUSTED_CERTIFICATE: readonly (readonly [string, Tamper])[] = [
  ['alters a file', edited((manifest) => ({ ...manifest, files: { ...manifest.files, 'pi-agent/AGENTS.md': 'evil\n' } }))],
  ['adds a file', edited((manifest) => ({ ...manifest, files: { ...manifest.files, 'pi-agent/extensions/x.ts': 'evil()' } }))],
  ['removes the files', edited((manifest) => ({ ...manifest, files: {} }))],
  ['takes the signature away', edited((manifest) => ({ ...manifest, signed: undefined }))],
  ['signs with a key of his own', resigned],
  ['announces a key of his own as the next one', rotatedByHim],
  ['answers with an older release', instead('manifest')],
  ['answers with an older release and its script', (answer) => old.get(isScript(answer.path) ? 'script' : 'manifest') ?? answer],
  ['answers with the script of an older release', instead('script')],
  ['answers with another scenario’s release', edited(async () => other.svc.manifest())],
  ['alters the script', inScript((script) => script.replace('{\n', '{\n: >"$MACHINE/ran"\n'))],
  ['puts a line before the script', inScript((script) => `: >"$MACHINE/ran"\n${script}`)],
  ['puts a line after the script', inScript((script) => `${script}: >"$MACHINE/ran"\n`)],
  ['cuts the script', inScript((script) => script.slice(0, script.length / 2))],
  ['answers with a script of his own', inScript(() => '{\n: >"$MACHINE/ran"\n}\n')],
  ['signs a script of his own', inScript(() => deployment().script('{\n: >"$MACHINE/ran"\n}\n', { scenario: 'followed', adapter: 'pi' }))],
  ['answers with nothing', (answer) => ({ ...answer, text: '' })],
  ['answers with a page', (answer) => ({ ...answer, text: '<html><body>Sign in</body></html>' })],
  ['redirects to an address without TLS (302)', redirected(302, () => plain)],
  ['redirects to an address without TLS (307)', redirected(307, () => plain)],
  ['redirects to an address without TLS for good (308)', redirected(308, () => plain)],
  ['redirects to another address with TLS', redirected(301, () => between.url.replace('localhost', '127.0.0.1'))],
]

describe('between the wrapper and its service, somebody', () => {
  it.each<readonly [string, () => ReturnType<Authority['certificate']>]>([
    ['of another authority', () => theirs.certificate('localhost')],
    ['for another name', () => own.certificate('svc.example')],
    ['that is out of date', () => own.certificate('localhost', -1)],
  ])('with a certificate %s is refused, and gets no token', async (_name, certificate) => {
    const before = stateOf(machine.destination)
    const seen: string[] = []
    between.show(certificate())
    between.tamper = (answer) => {
      seen.push(answer.path)
      return answer
    }
    expect(await svc(['update'])).toMatchObject({ code: 1, out: '', err: expect.stringContaining('cannot be reached') })
    const fresh = makeMachine()
    await pasted(fresh, installLine)
    expect({ seen, made: fresh.made(), now: stateOf(machine.destination) }).toEqual({ seen: [], made: [], now: before })
  })

  it.each(WITH_A_TRUSTED_CERTIFICATE)('who has a certificate that is trusted and %s changes nothing', async (_name, tamper) => {
    const [before, trust] = [stateOf(machine.destination), trustOf()]
    between.tamper = tamper
    const { code, out, err } = await svc(['update'])
    expect({ code, out, lines: err.trimEnd().split('\n').length }).toEqual({ code: 1, out: '', lines: 1 })
    expect({ now: stateOf(machine.destination), key: trustOf()['key'], ran: ran(machine) }).toEqual({
      now: before,
      key: trust['key'],
      ran: [],
    })
    expect(asked).toEqual([])
  })

  it('who lets everything pass lets the update pass', async () => {
    expect(await svc(['update'])).toMatchObject({ code: 0, out: expect.stringContaining(newest) })
    expect(await svc(['update'])).toMatchObject({ code: 0, out: expect.stringContaining('already current') })
  })
})

describe('between the line that checks first and its service, somebody with a trusted certificate', () => {
  it.each(WITH_A_TRUSTED_CERTIFICATE.filter(([name]) => /script|redirects|nothing|page/.test(name) && !name.includes('older')))(
    'who %s installs nothing and runs nothing',
    async (_name, tamper) => {
      const fresh = makeMachine()
      between.tamper = tamper
      expect(await pasted(fresh, checkedInstallLine)).toMatchObject({ code: 1, out: '' })
      expect(fresh.made()).toEqual([])
    },
  )

  it('who lets everything pass lets the install pass', async () => {
    expect(await pasted(makeMachine(), checkedInstallLine)).toMatchObject({ code: 0 })
  })
})

const trustOf = () => jsonAt(join(machine.installFolder(), 'trust.json'))
const ran = (on: Machine): readonly string[] => on.made().filter((name) => /(?:^|\/)ran$/.test(name))
