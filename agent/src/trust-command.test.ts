/** Keys that rotate, are lost or come back from a backup, wrong clocks and kills, as the real wrapper meets them in processes of its own. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { deployment } from '../../client/src/testing/signed.ts'
import { inFolder } from './places.ts'
import { DEPLOYMENT, textsBelow } from './testing/harness-home.ts'
import { changed, LATER, person, serve, type Mirror } from './testing/mirror.ts'
import { readTrust } from './trust.ts'

describe('the real wrapper', () => {
  test('follows one rotation, and two that happened while it was away', async () => {
    const { server, svc, folder, ran } = await person()
    const [second, fourth] = [DEPLOYMENT.rotate(), DEPLOYMENT.rotate().rotate().rotate()]
    serve(server, second, 2)
    const { code, stderr } = await svc(['update'])
    expect([code, ran()]).toEqual([0, 1])
    expect(stderr).toContain(`rotated its key, signed by the old one: ${second.fingerprint}`)
    serve(server, DEPLOYMENT, 3)
    expect((await svc(['update'])).stderr).toContain('is trusted here')
    serve(server, fourth, 4)
    expect((await svc(['update'])).stderr).toContain('is trusted here')
    const third = second.rotate().rotate()
    serve(server, third, 5)
    expect((await svc(['update'])).code).toBe(0)
    expect((await readTrust(folder))?.key).toBe(third.fingerprint)
  })

  test('refuses a service that starts over with a new key, until the person types its fingerprint', async () => {
    const { server, svc, ran } = await person()
    const anew = deployment()
    serve(server, anew, 2)
    const refused = await svc(['update'])
    expect([refused.code, ran()]).toEqual([1, 0])
    expect(refused.stderr).toMatch(/^svc-agent: this is signed by key ed25519:.* trust <fingerprint>/)
    expect(refused.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(await svc(['trust', 'ed25519:short'])).toMatchObject({ code: 2 })
    expect((await svc(['trust', anew.fingerprint])).stdout).toContain('is trusted here from now on')
    expect((await svc(['trust'])).stdout).toBe(`${anew.fingerprint}\n`)
    expect([(await svc(['update'])).code, ran()]).toEqual([0, 1])
  })

  test('refuses a service that was restored from a backup until it is past what was seen, or trusted again', async () => {
    const { server, svc } = await person()
    serve(server, DEPLOYMENT, 7)
    await svc(['update'])
    serve(server, DEPLOYMENT, 3)
    expect((await svc(['update'])).stderr).toContain('restored from a backup')
    await svc(['trust', DEPLOYMENT.fingerprint])
    expect((await svc(['update'])).code).toBe(0)
  })

  test.each<[string, (to: Mirror) => void, string]>([
    ['a mirror that alters a file', (to) => changed(to, (each) => (each['files'] = { 'AGENTS.md': 'evil\n' })), 'is not what'],
    ['a man in the middle with a key of his own', (to) => serve(to, deployment(), 2), 'is trusted here'],
    [
      'a man in the middle who changes the script',
      (to) => (to.script = to.script.replace('ran', 'evil')),
      'not what the deployment signed',
    ],
  ])('applies nothing of %s, and says so in one line', async (_, tamper, message) => {
    const { server, svc, home, ran } = await person()
    const before = textsBelow(home.destination)
    serve(server, DEPLOYMENT, 2)
    tamper(server)
    const { code, stderr } = await svc(['update'])
    expect(stderr).toContain(message)
    expect([code, stderr.trimEnd().split('\n').length, ran(), textsBelow(home.destination)]).toEqual([1, 1, 0, before])
  })

  test.each([-4e12, 4e12])('takes what is signed when its clock is wrong by %s ms, and nothing old', async (wrong) => {
    const { server, svc } = await person()
    const clock = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`const n=Date.now;Date.now=()=>n()+${wrong}`)}` }
    serve(server, DEPLOYMENT, 5)
    expect(await svc(['update'], clock)).toMatchObject({ code: 0 })
    serve(server, DEPLOYMENT, 4)
    expect((await svc(['update'], clock)).code).toBe(1)
  })

  test('killed between the check and the change, it completes the update the next time', async () => {
    const { server, svc, home, ran } = await person()
    const before = textsBelow(home.destination)
    const about = { scenario: 'demo', adapter: 'agent', release_id: 'r2', step: LATER + 2 }
    serve(server, DEPLOYMENT, 2)
    server.script = DEPLOYMENT.script('{\nkill -9 "$PPID"\n}\n', about)
    expect((await svc(['update'])).code).toBeNull()
    expect(textsBelow(home.destination)).toEqual(before)
    serve(server, DEPLOYMENT, 2)
    expect([(await svc(['update'])).code, ran()]).toEqual([0, 1])
  })

  test('updated twice at once takes each answer as it was signed', async () => {
    const { server, svc, ran, folder } = await person()
    serve(server, DEPLOYMENT, 2)
    const codes = (await Promise.all([svc(['update']), svc(['update'])])).map(({ code }) => code)
    expect([codes, ran()]).toEqual([[0, 0], 2])
    expect((await readTrust(folder))?.step).toBe(LATER + 2)
  })

  test('with a damaged file of trust pins nothing by itself', async () => {
    const { server, svc, folder, ran } = await person()
    for (const text of ['', '{', '{"key":"ed25519:x","step":1,"release_id":""}', '[]']) {
      writeFileSync(inFolder(folder).trust, text)
      serve(server, deployment(), 9)
      expect((await svc(['update'])).stderr).toContain('is damaged')
    }
    rmSync(inFolder(folder).trust)
    mkdirSync(inFolder(folder).trust)
    expect((await svc(['update'])).code).toBe(1)
    expect(ran()).toBe(0)
  })

  test('runs no check of a release that does not verify', async () => {
    const { server, svc, home } = await person()
    serve(server, DEPLOYMENT, 2)
    changed(server, (each) => (each['requires'] = [{ name: 'a', kind: 'service', check: `touch ${home.path}/checked` }]))
    expect((await svc(['setup', '--yes'])).code).toBe(1)
    expect(existsSync(join(home.path, 'checked'))).toBe(false)
  })
})
