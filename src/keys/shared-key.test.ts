/** The deployment's key where several gateways share it: one key, encrypted, rotated once. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkScript } from '@svc-ai/client/signing'
import { temporaryFolder } from '../../test/support/folder.ts'
import { FolderDocuments, Sealing } from '../kit/index.ts'
import { fingerprintIn, keyFileIn, openKeyFile } from './key-file.ts'
import { openSharedKey, requireShared, rotateShared, type SharedPlace } from './shared-key.ts'
import { checkKey } from './show.ts'
import { openSigner } from './signer.ts'

const ABOUT = { scenario: 's', adapter: 'pi', release_id: 'r', step: 1 }

function placeOf(folder: string, key = randomBytes(32).toString('hex')): SharedPlace {
  const sealing = Sealing.read(key)
  if (sealing === null) throw new Error('no key')
  return { documents: new FolderDocuments(folder), sealing }
}

it('gateways with folders of their own that start at once sign with one key, which is nowhere in clear', async () => {
  const folder = temporaryFolder()
  const place = placeOf(folder)
  const signers = await Promise.all(Array.from({ length: 6 }, () => openSigner(temporaryFolder(), place)))
  const keys = new Set(await Promise.all(signers.map((signer) => signer.fingerprint())))
  expect(keys.size).toBe(1)
  const [key = ''] = keys
  for (const signer of signers) expect(checkScript(key, await signer.script('{\n}\n', ABOUT))).toMatchObject(ABOUT)
  expect(readFileSync(join(folder, 'signing-key'), 'utf8')).not.toContain((await requireShared(place)).chain.signer.secret)
})

it('the key of the first machine becomes the key of all', async () => {
  const [machine, place] = [temporaryFolder(), placeOf(temporaryFolder())]
  const before = fingerprintIn(await openKeyFile(keyFileIn(machine)))
  expect(fingerprintIn(await openSharedKey(place, keyFileIn(machine)))).toBe(before)
  expect(fingerprintIn(await openSharedKey(place, keyFileIn(temporaryFolder())))).toBe(before)
})

it('of rotations at once one is made and the others are refused; every earlier key leads to it', async () => {
  const place = placeOf(temporaryFolder())
  const first = fingerprintIn(await openSharedKey(place, keyFileIn(temporaryFolder())))
  const ends = await Promise.allSettled(Array.from({ length: 4 }, () => rotateShared(place, 1)))
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const signer = await openSigner(temporaryFolder(), place)
  expect(await signer.fingerprint()).not.toBe(first)
  expect(checkScript(first, await signer.script('{\n}\n', ABOUT))).toMatchObject(ABOUT)
})

it('without the secret key it was encrypted with, or damaged, it is one clear error and stays as it is', async () => {
  const folder = temporaryFolder()
  const place = placeOf(folder)
  await openSharedKey(place, keyFileIn(temporaryFolder()))
  const kept = readFileSync(join(folder, 'signing-key'), 'utf8')
  await expect(openSharedKey(placeOf(folder), keyFileIn(temporaryFolder()))).rejects.toThrow(/another key.*SVC_SECRET_KEY/)
  await expect(checkKey(temporaryFolder(), placeOf(folder))).rejects.toThrow(/another key.*SVC_SECRET_KEY/)
  await checkKey(temporaryFolder(), place)
  writeFileSync(join(folder, 'signing-key'), kept.slice(0, -8))
  await expect(openSharedKey(place, keyFileIn(temporaryFolder()))).rejects.toThrow(/is damaged/)
  expect(readFileSync(join(folder, 'signing-key'), 'utf8')).toBe(kept.slice(0, -8))
})
