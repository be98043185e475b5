/** `svc key`, and the install lines it prints, as shells run them. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkedInstallLine } from '@svc-ai/client/signing'
import { deployment } from '../../client/src/testing/signed.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { openSigner } from '../keys/index.ts'
import { readKey, rotateKey } from '../main.ts'
import { runCli } from './program.ts'
import { fakeSurroundings } from './testing/surroundings.ts'

async function svc(folder: string, ...args: readonly string[]) {
  const surroundings = fakeSurroundings({ readKey, rotateKey })
  const code = await runCli([...args, '--storage.agent_record_dir', folder], surroundings)
  return { code, out: surroundings.printed.join('\n'), err: surroundings.complaints.join('\n') }
}

describe('svc key', () => {
  it('shows the fingerprint, the file and the line to install with, and the next key after a rotation', async () => {
    const folder = temporaryFolder()
    expect(await svc(folder, 'key', 'show')).toMatchObject({ code: 1, err: expect.stringContaining('is not there') as unknown })
    const first = await (await openSigner(folder)).fingerprint()
    const { code, out } = await svc(folder, 'key', 'show')
    expect(code).toBe(0)
    expect(out).toContain(`${first} is the key of this deployment`)
    expect(out).toContain(`| env SVC_KEY=${first} sh`)
    const rotated: unknown = JSON.parse((await svc(folder, 'key', 'rotate', '--json')).out)
    expect(rotated).toMatchObject({ rotations: 1, file: join(folder, 'signing-key.json') })
    expect((await svc(folder, 'key', 'show')).out).not.toContain(first)
    expect(await svc(folder, 'key', 'show', '--storage.record_backend', 'memory')).toMatchObject({ code: 2 })
  })
})

/** The line with a curl that prints a file. */
function pasted(shell: string, script: string, key: string) {
  const folder = temporaryFolder()
  const file = join(folder, 'bin', 'curl')
  mkdirSync(dirname(file))
  writeFileSync(file, `#!/bin/sh\ncat '${join(folder, 'script')}'\n`, { mode: 0o755 })
  writeFileSync(join(folder, 'script'), script)
  const line = checkedInstallLine({ url: 'http://svc.example', adapter: 'pi', key, hasToken: true })
  const env = { PATH: `${dirname(file)}:${dirname(process.execPath)}:/usr/bin:/bin`, SVC_TOKEN: 't' }
  return spawnSync(shell, ['-c', line], { env, encoding: 'utf8' })
}

describe.each(['sh', 'bash'])('the line that checks before it runs, in %s', (shell) => {
  const by = deployment()
  const script = by.script('{\necho "ran with $SVC_KEY"\n}\n', {})

  it('runs what the key of the line signed', () => {
    expect(statSync(process.execPath).isFile()).toBe(true)
    expect(pasted(shell, script, by.fingerprint)).toMatchObject({ status: 0, stdout: `ran with ${by.fingerprint}\n` })
  })

  it.each([
    ['of another key', deployment().script('{\necho ran\n}\n', {})],
    ['that was altered', script.replace('ran with', 'ran by')],
    ['without a signature', '{\necho ran\n}\n'],
    ['that ignores every variable', 'unset SVC_KEY; echo ran\n'],
    ['that is empty', ''],
    ['cut anywhere', script.slice(0, -20)],
    ['with a statement of a release', by.script('{\necho ran\n}\n', { sha256: '0'.repeat(64) })],
  ])('runs nothing of a script %s, and says so', (_, text) => {
    const { status, stdout, stderr } = pasted(shell, text, by.fingerprint)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain(`this script is not signed by ${by.fingerprint}, nothing of it was run`)
  })
})
