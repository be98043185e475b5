/** The wrapper against services, mirrors and men in the middle that lie: what does not verify is not applied, and what was in use stays. */
import { existsSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { deployment } from '../../client/src/testing/signed.ts'
import { install } from './install.ts'
import type { Installation, SignedInstallation } from './installation.ts'
import { inFolder, installFolder } from './places.ts'
import { readRecord } from './record.ts'
import { anInstallation, DEPLOYMENT, makeHome, signedInstallation, textsBelow, transcript } from './testing/harness-home.ts'
import { changed, LATER, person, RAN, serve, type Mirror } from './testing/mirror.ts'
import { readTrust } from './trust.ts'
import { update } from './update.ts'

/** What the server does to an answer that was right, and what the person reads. */
const MIRRORS: readonly (readonly [string, (to: Mirror) => void, RegExp])[] = [
  ['alters a file', (to) => changed(to, (each) => (each['files'] = { 'AGENTS.md': 'evil\n' })), /file "AGENTS.md" is not what/],
  ['adds a file', (to) => changed(to, (each) => (each['files'] = { 'AGENTS.md': 'release 2\n', evil: '' })), /"evil" is not what/],
  ['removes a file', (to) => changed(to, (each) => (each['files'] = {})), /list of files/],
  [
    'adds a requirement with a check',
    (to) => changed(to, (each) => (each['requires'] = [{ name: 'a', kind: 'service', check: 'id' }])),
    /requires/,
  ],
  ['names another release', (to) => changed(to, (each) => (each['release_id'] = 'r9')), /id of the release/],
  ['takes the signature away', (to) => changed(to, (each) => delete each['signed']), /signs no releases/],
  ['sends a signature of another shape', (to) => changed(to, (each) => (each['signed'] = 'yes')), /does not verify/],
  [
    'repeats a key of the answer',
    (to) => (to.manifest = to.manifest.replace('{', '{"files":{"evil":"x"},').replace(/"files":\{"AGENTS[^}]*}/, '"files":{"evil":"x"}')),
    /is not what/,
  ],
  ['truncates the manifest', (to) => (to.manifest = to.manifest.slice(0, -9)), /not this service's/],
  ['answers with a page', (to) => (to.manifest = '<html>sign in</html>'), /not this service's/],
  ['serves another scenario', (to) => serve(to, DEPLOYMENT, 2, { scenario: 'other' }), /the scenario is not/],
  ['serves another agent’s release', (to) => serve(to, DEPLOYMENT, 2, { adapter: 'claude' }), /agent it is for/],
  ['is another deployment', (to) => serve(to, deployment(), 2), /is trusted here/],
  ['alters the script', (to) => (to.script = to.script.replace('ran', 'evil')), /not what the deployment signed/],
  ['truncates the script', (to) => (to.script = to.script.slice(0, 30)), /did not arrive whole/],
  ['sends a script without a signature', (to) => (to.script = RAN), /did not arrive whole/],
  ['puts lines after the script', (to) => (to.script += 'touch "$HOME/ran"\n'), /did not arrive whole/],
  [
    'signs the script with another key',
    (to) => (to.script = deployment().script(RAN, { scenario: 'demo', release_id: 'r2', step: LATER + 2 })),
    /is trusted here/,
  ],
  [
    'mixes the script of one release with the manifest of another',
    (to) => (to.script = DEPLOYMENT.script(RAN, { scenario: 'demo', release_id: 'r1', step: LATER + 1 })),
    /something else/,
  ],
  [
    'sends the script of another scenario',
    (to) => (to.script = DEPLOYMENT.script(RAN, { scenario: 'other', release_id: 'r2', step: LATER + 2 })),
    /something else/,
  ],
  [
    'sends the script of another step',
    (to) => (to.script = DEPLOYMENT.script(RAN, { scenario: 'demo', release_id: 'r2', step: LATER + 1 })),
    /something else/,
  ],
  [
    'sends a script that names no scenario',
    (to) => (to.script = DEPLOYMENT.script(RAN, { scenario: null, release_id: null, step: null })),
    /something else/,
  ],
  ['redirects to another address', (to) => (to.redirect = 'http://svc.example'), /redirects are not followed/],
]

describe('update against a server that [trust.update]', () => {
  test.each(MIRRORS)('%s applies nothing, and says so in one line', async (_, tamper, message) => {
    const { self, server, home, ran } = await person()
    const before = textsBelow(home.destination)
    serve(server, DEPLOYMENT, 2)
    tamper(server)
    const problem = await update(self, [], transcript()).catch((error: unknown) => error)
    expect(problem).toBeInstanceOf(Error)
    expect(String(problem)).toMatch(message)
    expect(String(problem)).not.toContain('\n')
    expect([ran(), textsBelow(home.destination)]).toEqual([0, before])
  })

  test('goes back to an older step is refused, also one that was served before', async () => {
    const { self, server, ran } = await person()
    serve(server, DEPLOYMENT, 5)
    expect(await update(self, [], transcript())).toBe(0)
    serve(server, DEPLOYMENT, 4)
    await expect(update(self, [], transcript())).rejects.toThrow(`step ${LATER + 4}, and step ${LATER + 5} was seen here before`)
    expect(ran()).toBe(1)
    // A person who names the older release gets it, and the newest step stays remembered.
    expect(await update(self, ['--release', 'r4'], transcript())).toBe(0)
    expect((await readTrust(self.folder))?.step).toBe(LATER + 5)
  })
})

/** What is changed in an install script's data after it was signed. */
const DELIVERIES: readonly (readonly [string, (installation: SignedInstallation) => SignedInstallation])[] = [
  ['a file', (each) => ({ ...each, files: { ...each.files, 'AGENTS.md': 'evil\n' } })],
  ['a bound file', (each) => ({ ...each, binding: { '.env': 'KEY="@TOKEN@" EVIL=1\n' } })],
  ['the version of the program', (each) => ({ ...each, install: { ...each.install, version: '6.6.6' } })],
  ['the package of the program', (each) => ({ ...each, install: { ...each.install, package: 'evil' } })],
  ['the address of the service', (each) => ({ ...each, url: 'https://evil.example' })],
  ['the scenario', (each) => ({ ...each, scenario: 'other' })],
  ['the agent', (each) => ({ ...each, adapter: 'other' })],
  ['a variable of the session', (each) => ({ ...each, client: { ...each.client, env: { NODE_OPTIONS: '--require evil' } } })],
  ['the placeholders', (each) => ({ ...each, placeholders: { url: '@URL@', token: 'KEY' } })],
  ['the paths of the harness', (each) => ({ ...each, harness_paths: ['/'] })],
  ['an item to set up', (each) => ({ ...each, requires: [{ name: 'a', kind: 'service', check: 'id' }] })],
  ['the id of the release', (each) => ({ ...each, release_id: 'r9' })],
  ['the signature', (each) => ({ ...each, signed: { ...each.signed, signature: 'A'.repeat(86) } })],
]

describe('an install script [trust.script]', () => {
  test.each(DELIVERIES)('in which %s was changed installs nothing', async (_, change) => {
    const home = makeHome()
    const order = home.order(anInstallation({ requires: [] }))
    const terminal = transcript()
    expect(await install({ ...order, installation: change(order.installation), terminal })).toBe(1)
    expect(terminal.warned).toHaveLength(1)
    expect(existsSync(home.destination) || home.npmCalls().length > 0).toBe(false)
  })

  test('with another program than the signed one installs nothing', async () => {
    const home = makeHome()
    const terminal = transcript()
    expect(await install({ ...home.order(anInstallation()), program: '// evil\n', terminal })).toBe(1)
    expect(terminal.warned.join()).toContain('not what the deployment signed')
  })

  test('of another key than the line names installs nothing, and of the one it names pins it', async () => {
    const home = makeHome()
    const order = home.order(anInstallation())
    const env = { ...home.env, SVC_KEY: deployment().fingerprint }
    expect(await install({ ...order, env, terminal: transcript() })).toBe(1)
    expect(existsSync(home.destination)).toBe(false)
    const terminal = transcript()
    expect(await install({ ...order, env: { ...env, SVC_KEY: DEPLOYMENT.fingerprint }, terminal })).toBe(0)
    expect(terminal.printed.join('\n')).toContain(`key:     ${DEPLOYMENT.fingerprint}`)
  })

  test('from an address without TLS is refused, allowed by a variable with the key, and remembered', async () => {
    const home = makeHome()
    const far = (changes: Partial<Installation> = {}) => home.order(anInstallation({ url: 'http://svc.example:1', ...changes }))
    const terminal = transcript()
    expect(await install({ ...far(), terminal })).toBe(1)
    expect(terminal.warned.join()).toContain('SVC_INSECURE_HTTP=1')
    expect(await install({ ...far(), env: { ...home.env, SVC_INSECURE_HTTP: '1' }, terminal })).toBe(1)
    expect(terminal.warned.join()).toContain('SVC_KEY')
    // Without a token: nothing is asked of that address, which leads nowhere.
    const { SVC_TOKEN: _, ...tokenless } = home.env
    const env = { ...tokenless, SVC_INSECURE_HTTP: '1', SVC_KEY: DEPLOYMENT.fingerprint }
    expect(await install({ ...far(), env, terminal: transcript() })).toBe(0)
    expect(await install({ ...far({ release_id: 'r2' }), env: tokenless, terminal: transcript() })).toBe(0)
  })

  test('of an older step is not installed over a newer one', async () => {
    const home = makeHome()
    const old = home.order(anInstallation())
    expect(await install({ ...home.order(anInstallation({ release_id: 'r2' })), terminal: transcript() })).toBe(0)
    const terminal = transcript()
    expect(await install({ ...old, terminal })).toBe(1)
    expect(terminal.warned.join()).toContain('was seen here before')
    expect((await readRecord(installFolder(home.path, home.destination))).release_id).toBe('r2')
  })

  test('over an install from before keys were pinned pins the key and says so', async () => {
    const { home, folder, server } = await person()
    rmSync(inFolder(folder).trust)
    const terminal = transcript()
    expect(await install({ ...home.order(anInstallation({ url: server.url })), terminal })).toBe(0)
    expect(terminal.warned.join()).toContain(`key ${DEPLOYMENT.fingerprint} of ${server.url} is trusted here from now on`)
    expect((await readTrust(folder))?.key).toBe(DEPLOYMENT.fingerprint)
  })

  test('of a deployment whose key was rotated is installed, and one of the old key no longer', async () => {
    const home = makeHome()
    await install({ ...home.order(anInstallation()), terminal: transcript() })
    const program = home.order(anInstallation()).program
    const next = DEPLOYMENT.rotate()
    const order = { ...home.order(anInstallation()), installation: signedInstallation(anInstallation(), program, { by: next }) }
    expect(await install({ ...order, terminal: transcript() })).toBe(0)
    const terminal = transcript()
    expect(await install({ ...home.order(anInstallation()), terminal })).toBe(1)
    expect(terminal.warned.join()).toContain(`${next.fingerprint} is trusted here`)
  })
})
