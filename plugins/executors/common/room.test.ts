/** Whose fault a full machine is: the episode's own only where it alone filled it. */
import { describe, expect, it } from 'vitest'
import { memoryShortage, noRoom, shortageOf } from './room.ts'

const MIB = 1024 * 1024
/** A disk of 1 GiB in blocks of 1 MiB. */
const DISK = { type: 0, frsize: MIB, bfree: 500, bsize: MIB, blocks: 1024, bavail: 500, files: 10_000, ffree: 5000 }

const shortageWith = (state: Partial<typeof DISK>, ownBytes: number) => shortageOf({ ...DISK, ...state }, ownBytes)

describe('a disk', () => {
  it('with room is nobody’s trouble', () => expect(shortageWith({}, 100 * MIB)).toBeNull())
  it('that others filled is the machine’s', () => {
    expect(shortageWith({ bavail: 10 }, 100 * MIB)).toEqual({ short: expect.stringContaining('disk') })
  })
  it('that the episode filled alone is its own', () => expect(shortageWith({ bavail: 10 }, 700 * MIB)).toBe('disk'))
  it('without file entries is the machine’s', () => {
    expect(shortageWith({ ffree: 10 }, 0)).toEqual({ short: expect.stringContaining('files') })
  })
  it('without a fixed number of files has enough of them', () => expect(shortageWith({ files: 0, ffree: 0 }, 0)).toBeNull())
})

it('this machine has memory and numbers for processes', () => {
  expect(memoryShortage()).toBeNull()
})

it('a shortage is the machine’s, and says that nothing is scored', () => {
  expect(noRoom({ short: 'memory' })).toMatchObject({ kind: 'unavailable', code: 'no_room', message: expect.stringContaining('repeated') })
})
