import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installedFrom } from './testing/fake-harness.ts'
import { transcript } from './testing/harness-home.ts'
import { update } from './update.ts'

const held = (metrics: object): object => ({
  step: 2,
  release_id: 'r2',
  content_id: 'c',
  operation: 'train',
  result: 'pending',
  page_path: '/page',
  pending: true,
  metrics,
})

const SCRIPT = `{\nprintf '%s\\n' "$1" "$2" "$SVC_TOKEN" >"$HOME/ran"\n}\n`

describe('update', () => {
  test('runs the install script of the served release for this folder and prefix, with the token', async () => {
    const { self, home, harness } = await installedFrom()
    harness.releases.set('r2', [])
    harness.script = SCRIPT
    const { SVC_TOKEN: _, ...env } = home.env
    expect(await update({ ...self, env }, [], transcript())).toBe(0)
    expect(readFileSync(join(home.path, 'ran'), 'utf8')).toBe(`${home.destination}\n${home.prefix}\nsecret-token\n`)
    expect(harness.requests.at(-1)).toEqual({
      path: '/svc/harness/install?adapter=agent&release_id=r2',
      authorization: 'Bearer secret-token',
    })
  })

  test('says so when the release is there already, and asks for no script', async () => {
    const { self, harness } = await installedFrom()
    const terminal = transcript()
    expect(await update(self, [], terminal)).toBe(0)
    expect(terminal.printed.join('\n')).toContain('already current')
    expect(harness.requests.some(({ path }) => path.includes('install'))).toBe(false)
  })

  test('takes an unproven release only where a person asks for it, and goes back by a plain update', async () => {
    const { self, home, harness } = await installedFrom()
    harness.releases.set('unproven', [])
    harness.releases.set('r2', [])
    harness.provisional = 'unproven'
    harness.script = SCRIPT
    expect(await update(self, [], transcript())).toBe(0)
    expect(harness.requests.at(-1)?.path).toContain('release_id=r2')
    const asking = transcript()
    expect(await update(self, ['--provisional'], asking)).toBe(0)
    expect(harness.requests.at(-1)?.path).toContain('release_id=unproven')
    expect(asking.warned.join('\n')).toContain('unproven is provisional: it looked better after one round and is not proved')
    expect(await update(self, [], transcript())).toBe(0)
    expect(harness.requests.at(-1)?.path).toContain('release_id=r2')
    expect(existsSync(join(home.path, 'ran'))).toBe(true)
  })

  test('says so when there is no provisional release, and installs the served one', async () => {
    const { self, harness } = await installedFrom()
    harness.releases.set('r2', [])
    harness.script = SCRIPT
    const terminal = transcript()
    expect(await update(self, ['--provisional'], terminal)).toBe(0)
    expect(terminal.warned.join('\n')).toContain('there is no provisional release now')
    expect(harness.requests.at(-1)?.path).toContain('release_id=r2')
  })

  test('refuses an unproven release that is answered as the served one', async () => {
    const { self, harness } = await installedFrom()
    harness.releases.set('unproven', [])
    harness.provisional = 'unproven'
    await expect(update(self, [], transcript())).rejects.toThrow(/waits for review and was answered as the served one/)
  })

  test('names what must be set up first and exits 3', async () => {
    const { self, harness } = await installedFrom()
    harness.releases.set('r2', [{ name: 'mail', kind: 'service', check: 'true', prompt: 'start it' }])
    const terminal = transcript()
    expect(await update(self, ['--release', 'r2'], terminal)).toBe(3)
    expect(terminal.warned.join('\n')).toContain('mail (service): start it')
    expect(terminal.warned.join('\n')).toContain('svc-agent setup --release r2')
  })

  test('a script that did not arrive whole is not run, however it was cut', async () => {
    const { self, home, harness } = await installedFrom()
    harness.releases.set('r2', [])
    for (const script of [null, '', '{\necho begun >"$1/begun"\n', `{\ncat >"$1/begun" <<'END'\nhalf`]) {
      harness.script = script
      await expect(update(self, [], transcript())).rejects.toThrow(/again|whole|reached|broke/)
    }
    expect(existsSync(join(home.destination, 'begun'))).toBe(false)
  })

  test('a script that fails makes the update fail', async () => {
    const { self, harness } = await installedFrom()
    harness.releases.set('r2', [])
    harness.script = '{\nexit 7\n}\n'
    expect(await update(self, [], transcript())).toBe(1)
  })

  test('of a held release says first why it is held, and what it may do', async () => {
    const { self, harness } = await installedFrom()
    harness.releases.set('r2', [])
    harness.script = SCRIPT
    const power_reasons = Array.from({ length: 12 }, (_, at) => ({ power: 'runs', entry: `e${at}\u001b[2J`, why: 'it holds code\u202e' }))
    const metrics = { held_because: 'it may run programs on your machine\u0007', power_reasons }
    harness.rows = [held(metrics)]
    const terminal = transcript()
    expect(await update(self, ['--release', 'r2'], terminal)).toBe(0)
    const text = terminal.warned.join('\n')
    expect(text).toContain('it is held for a person: it may run programs on your machine[U+0007]\n  e0[U+001B][2J: it holds code[U+202E]\n')
    expect(text).toContain('\n  and 4 more')
  })

  test('of a release whose row cannot be read, or says nothing, tells so and goes on', async () => {
    const { self, harness } = await installedFrom()
    harness.releases.set('r2', [])
    harness.script = SCRIPT
    for (const [rows, words] of [
      [null, 'could not be read'],
      [[held({})], 'is not known'],
    ] as const) {
      harness.rows = rows
      const terminal = transcript()
      expect(await update(self, ['--release', 'r2'], terminal)).toBe(0)
      expect(terminal.warned.join('\n')).toContain(words)
    }
  })
})
