/** What shows that a body is what was written: its CRC-32. An earlier version kept the SHA-256, and what is encrypted still has it. */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

export const SHA256_BYTES = 32
const CRC32_BYTES = 4

export function checksumOf(original: Uint8Array): Buffer {
  const checksum = Buffer.allocUnsafe(CRC32_BYTES)
  checksum.writeUInt32BE(crc32(original))
  return checksum
}

export const sha256Of = (original: Uint8Array): Buffer => hash('sha256', original, 'buffer')

export function isIntact(original: Uint8Array, checksum: Uint8Array): boolean {
  const expected = checksum.byteLength === SHA256_BYTES ? sha256Of(original) : checksumOf(original)
  return expected.equals(checksum)
}
