/** The deployment's key: made once whoever starts, never replaced by itself, rotated without losing a link of the chain. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkScript } from '@svc-ai/client/signing'
import { temporaryFolder } from '../../test/support/folder.ts'
import { fingerprintIn, keyFileIn, openKeyFile, requireKeyFile, rotateKeyFile } from './key-file.ts'
import { openSigner } from './signer.ts'

const ABOUT = { scenario: 's', adapter: 'pi', release_id: 'r', step: 1 }
const fresh = (): string => keyFileIn(temporaryFolder())

describe('the key file', () => {
  it('is made once, whole and for its owner alone, by however many start at once', async () => {
    const path = fresh()
    const chains = await Promise.all(Array.from({ length: 8 }, () => openKeyFile(path)))
    expect(new Set(chains.map(fingerprintIn)).size).toBe(1)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(path))).toEqual(['signing-key.json'])
    expect(fingerprintIn(await openKeyFile(path))).toBe(fingerprintIn(chains[0] ?? (await openKeyFile(path))))
  })

  it.each([
    ['that is empty', () => ''],
    ['that was cut', (text: string) => text.slice(0, 40)],
    ['without its secret', (text: string) => text.replace(/"secret": "[^"]*"/, '"secret": ""')],
    ['with a secret of another kind', (text: string) => text.replace(/"secret": "[^"]*"/, '"secret": "MIIB"')],
    ['of a later format', (text: string) => text.replace('"format": 1', '"format": 2')],
    ['with a chain that is broken', (text: string) => text.replace('"rotations": []', '"rotations": [{"statement":"{}","signature":"x"}]')],
    ['that is a list', () => '[]'],
  ])('%s is one clear error and stays as it is', async (_, damage) => {
    const path = fresh()
    await openKeyFile(path)
    const text = damage(readFileSync(path, 'utf8'))
    writeFileSync(path, text)
    for (const attempt of [openKeyFile, requireKeyFile, (at: string) => rotateKeyFile(at, 1)])
      await expect(attempt(path)).rejects.toThrow(/signing-key.json is damaged.*restore it from a backup/)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('that others may read, or that is a folder, is refused with the fix', async () => {
    const path = fresh()
    await openKeyFile(path)
    chmodSync(path, 0o644)
    await expect(openKeyFile(path)).rejects.toThrow(/chmod 600/)
    rmSync(path)
    mkdirSync(path)
    await expect(openKeyFile(path)).rejects.toThrow(/cannot be read/)
  })

  it('is not made by a command, and not again when it vanishes under a running service', async () => {
    const folder = temporaryFolder()
    await expect(rotateKeyFile(keyFileIn(folder), 1)).rejects.toThrow(/is not there/)
    const signer = await openSigner(folder)
    rmSync(keyFileIn(folder))
    await expect(signer.fingerprint()).rejects.toThrow(/is not there/)
    expect(existsSync(keyFileIn(folder))).toBe(false)
  })
})

describe('a rotation', () => {
  it('takes effect in a running service, whose clients follow from the first key', async () => {
    const folder = temporaryFolder()
    const signer = await openSigner(folder)
    const first = await signer.fingerprint()
    for (let each = 0; each < 3; each += 1) await rotateKeyFile(keyFileIn(folder), each)
    expect(await signer.fingerprint()).not.toBe(first)
    expect(checkScript(first, await signer.script('{\n}\n', ABOUT))).toMatchObject(ABOUT)
  })

  it('at the same time as others loses none: the chain leads from every key that was ever in use', async () => {
    const path = fresh()
    const seen = [fingerprintIn(await openKeyFile(path))]
    const ended = await Promise.allSettled(Array.from({ length: 6 }, () => rotateKeyFile(path, 1)))
    for (const end of ended) if (end.status === 'fulfilled') seen.push(fingerprintIn(end.value))
    const signer = await openSigner(dirname(path))
    const script = await signer.script('{\n}\n', ABOUT)
    for (const key of seen) expect(checkScript(key, script)).toMatchObject(ABOUT)
    expect(readdirSync(dirname(path))).toEqual(['signing-key.json'])
  })

  it('that was killed before it took its place is completed by the next', async () => {
    const path = fresh()
    await openKeyFile(path)
    const before = readFileSync(path, 'utf8')
    const next = await rotateKeyFile(path, 1)
    renameSync(path, `${path}.next`)
    writeFileSync(path, before, { mode: 0o600 })
    expect(fingerprintIn(await rotateKeyFile(path, 2))).toBe(fingerprintIn(next))
  })
})

it('in memory a key lasts as long as the service', async () => {
  const [one, other] = [await openSigner(null), await openSigner(null)]
  expect(await one.fingerprint()).not.toBe(await other.fingerprint())
})
