import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UsageError, type Requires } from '@svc-ai/client/shared'
import { installedFrom } from './testing/fake-harness.ts'
import { transcript } from './testing/harness-home.ts'
import { NOT_SHOWN } from './held.ts'
import { homeOf, inFolder } from './places.ts'
import { readReleaseFile } from './release-file.ts'
import { setup } from './setup.ts'

const KEY: Requires = { name: 'mail-key', kind: 'env', check: 'MAIL_API_KEY', prompt: 'the key of your mail account' }

describe('setup', () => {
  test('asks for a value without showing it, keeps it for sessions, and checks the item off', async () => {
    const { self, folder } = await installedFrom([KEY])
    const terminal = transcript('my key = "1"')
    expect(await setup(self, [], terminal)).toBe(0)
    expect(terminal.asked).toEqual([{ question: '  MAIL_API_KEY: ', hidden: true }])
    expect(readFileSync(inFolder(folder).env, 'utf8')).toBe('MAIL_API_KEY=my key = "1"\n')
    expect(statSync(inFolder(folder).env).mode & 0o777).toBe(0o600)
    expect((await readReleaseFile(self.record.destination, homeOf(self.env)))?.setup).toEqual([
      { name: 'mail-key', checked_at: expect.any(Number), check: 'MAIL_API_KEY' },
    ])
    expect([...terminal.printed, ...terminal.warned].join('\n')).not.toContain('my key')
  })

  test('checks a program off that is on the PATH, and runs neither it nor what is given in its place', async () => {
    const { self, home } = await installedFrom([program('json', 'jq'), program('gone'), program('near'), program('odd', 'touch ran; jq')])
    const [programs, near] = [join(home.path, 'programs'), join(home.path, 'near')]
    mkdirSync(programs)
    for (const path of [join(programs, 'jq'), near]) writeFileSync(path, '#!/bin/sh\ntouch "$HOME/ran"\n', { mode: 0o755 })
    const terminal = transcript()
    const env = { ...self.env, PATH: `${programs}:.:relative` }
    expect(await setup({ ...self, env }, ['--yes'], terminal)).toBe(1)
    expect((await readReleaseFile(self.record.destination, homeOf(self.env)))?.setup).toMatchObject([{ name: 'json', check: 'jq' }])
    expect(terminal.warned.join('\n')).toContain('gone is not on the PATH; install it, then run this again')
    expect(terminal.warned.join('\n')).toContain('touch ran; jq cannot be the name of a program')
    expect(terminal.printed.join('\n')).not.toContain('--run-checks')
    expect(existsSync(join(home.path, 'ran'))).toBe(false)
  })

  test('runs a check only after the person agreed, and shows all of it', async () => {
    const { self, home } = await installedFrom([check(`touch ran\u0008\u0008`)])
    const no = transcript('no')
    expect(await setup(self, [], no)).toBe(1)
    expect(no.printed.join('\n')).toContain(String.raw`touch ran[U+0008 x2]`)
    const { self: other } = await installedFrom([check(`touch '${join(home.path, 'ran')}'`)])
    expect([await setup(other, [], transcript('no')), existsSync(join(home.path, 'ran'))]).toEqual([1, false])
    expect([await setup(other, [], transcript('')), existsSync(join(home.path, 'ran'))]).toEqual([1, false])
    expect([await setup(other, [], transcript('yes')), existsSync(join(home.path, 'ran'))]).toEqual([0, true])
  })

  test('offers no as the answer to a check [trust.checks]', async () => {
    const { self } = await installedFrom([check('true')])
    const offered: boolean[] = []
    await setup(self, [], { ...transcript('unused'), confirm: async (_question, byDefault) => (offered.push(byDefault), byDefault) })
    expect(offered).toEqual([false])
  })

  test.each([
    ['--yes', ['--yes'], []],
    ['--yes on a terminal', ['--yes'], ['yes', 'yes']],
    ['no option and no terminal', [], []],
    ['--mark of another item', ['--mark', 'mail-key'], []],
    ['--json', ['--json'], ['yes']],
    ['--json and --yes', ['--json', '--yes'], ['yes']],
  ])('with %s no check runs, and it is listed whole', async (_case, args, answers) => {
    const { self, home } = await installedFrom([KEY, check('touch "$HOME/ran" # \u001b[2K\u202e\u{e0041}')])
    const terminal = transcript(...answers)
    expect(await setup(self, args, terminal).catch(() => 1)).toBe(1)
    expect(existsSync(join(home.path, 'ran'))).toBe(false)
    if (!args.includes('--json'))
      expect(terminal.printed.join('\n')).toContain(String.raw`touch "$HOME/ran" # [U+001B][2K[U+202E][U+E0041]`)
  })

  test('runs the checks that were listed by their digest, and none when they are others now', async () => {
    const { self, home, harness } = await installedFrom([check('touch "$HOME/ran"')])
    const digest = async (): Promise<string> => {
      const terminal = transcript()
      await setup(self, [], terminal)
      return /--run-checks ([0-9a-f]{64})$/m.exec(terminal.printed.join('\n'))?.[1] ?? ''
    }
    const seen = await digest()
    harness.releases.set('r1', [check('touch "$HOME/other"')])
    for (const given of [seen, '', 'yes', seen.slice(0, 63), seen.toUpperCase()])
      await expect(setup(self, ['--run-checks', given], transcript())).rejects.toThrow(/^--run-checks: these are not the checks/)
    expect(existsSync(join(home.path, 'other'))).toBe(false)
    harness.releases.set('r1', [check('touch "$HOME/ran"')])
    expect(await setup(self, ['--run-checks', seen], transcript())).toBe(0)
    expect(existsSync(join(home.path, 'ran'))).toBe(true)
  })

  test('a check that fails leaves its item open and shows what it said', async () => {
    const { self } = await installedFrom([check('echo no server here; exit 3')])
    const terminal = transcript('yes')
    expect(await setup(self, [], terminal)).toBe(1)
    expect(terminal.warned.join('\n')).toContain('no server here')
    expect((await readReleaseFile(self.record.destination, homeOf(self.env)))?.setup).toEqual([])
  })

  test('without a terminal it only lists', async () => {
    const { self, home } = await installedFrom([KEY, check('touch "$HOME/ran"')])
    const terminal = transcript()
    expect(await setup(self, [], terminal)).toBe(1)
    expect(terminal.printed.join('\n')).toContain('mail-key (variable MAIL_API_KEY): the key of your mail account')
    expect(existsSync(join(home.path, 'ran'))).toBe(false)
  })

  test('marks an item by name, and refuses a name or a release that it does not know', async () => {
    const { self } = await installedFrom([KEY])
    await expect(setup(self, ['--mark', 'other'], transcript())).rejects.toThrow(
      new UsageError('--mark: this release needs nothing called other'),
    )
    await expect(setup(self, ['--release', 'r9'], transcript())).rejects.toThrow(new UsageError(`--release: ${NOT_SHOWN}`))
    expect(await setup(self, ['--mark', 'mail-key'], transcript())).toBe(0)
    const terminal = transcript('unused')
    expect(await setup(self, ['--json'], terminal)).toBe(0)
    expect(JSON.parse(terminal.printed.join(''))).toEqual({ release_id: 'r1', met: true, items: [{ ...KEY, met: true }] })
  })

  test('an item whose check has changed since is open again', async () => {
    const { self, harness } = await installedFrom([check('true')])
    expect(await setup(self, [], transcript('yes'))).toBe(0)
    harness.releases.set('r2', [check('test 1 = 1')])
    expect(await setup(self, [], transcript())).toBe(1)
    expect(await setup(self, ['--release', 'r1'], transcript())).toBe(0)
  })
})

const check = (command: string): Requires => ({ name: 'mail', kind: 'service', check: command })

const program = (name: string, named?: string): Requires => ({ name, kind: 'binary', ...(named !== undefined && { check: named }) })
