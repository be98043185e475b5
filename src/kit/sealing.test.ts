import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Sealing } from './sealing.ts'

const newKey = (): string => randomBytes(32).toString('base64')
const CONTEXT = 'scenario a'
const SECRET = Buffer.from('sk-the-key-of-a-provider')

function sealingOf(text: string): Sealing {
  const sealing = Sealing.read(text)
  if (sealing === null) throw new Error('no key')
  return sealing
}

describe('sealed bytes', () => {
  it('open with their key and context, differ each time, and do not show what they hold', () => {
    const sealing = sealingOf(newKey())
    const [one, two] = [sealing.seal(SECRET, CONTEXT), sealing.seal(SECRET, CONTEXT)]
    expect(sealing.open(one, CONTEXT)).toEqual({ bytes: SECRET })
    expect(one.equals(two)).toBe(false)
    expect(one.includes(SECRET)).toBe(false)
    expect(sealing.open(sealing.seal(Buffer.alloc(0), ''), '')).toEqual({ bytes: Buffer.alloc(0) })
  })

  it('stay closed when any byte was changed or cut, and for another context', () => {
    const sealing = sealingOf(newKey())
    const sealed = sealing.seal(SECRET, CONTEXT)
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(sealing.open(changed, CONTEXT)).toHaveProperty('cannot')
      expect(sealing.open(sealed.subarray(0, at), CONTEXT)).toEqual({ cannot: 'damaged' })
    }
    expect(sealing.open(sealed, 'scenario b')).toEqual({ cannot: 'damaged' })
  })

  it('open after the key was replaced for as long as the old one is listed', () => {
    const [old, next] = [newKey(), newKey()]
    const sealed = sealingOf(old).seal(SECRET, CONTEXT)
    const both = sealingOf(`${next}, ${old}`)
    expect(both.open(sealed, CONTEXT)).toEqual({ bytes: SECRET })
    expect(sealingOf(next).open(sealed, CONTEXT)).toEqual({ cannot: 'other_key' })
    expect(sealingOf(next).open(both.seal(SECRET, CONTEXT), CONTEXT)).toEqual({ bytes: SECRET })
  })
})

it('takes keys of 32 bytes in hex and base64, and nothing else', () => {
  for (const text of [newKey(), randomBytes(32).toString('hex'), randomBytes(32).toString('base64url')])
    expect(Sealing.read(text)).not.toBeNull()
  for (const text of [
    '',
    'password',
    newKey().slice(1),
    `${newKey()},`,
    randomBytes(16).toString('base64'),
    randomBytes(33).toString('hex'),
  ])
    expect(Sealing.read(text)).toBeNull()
})
