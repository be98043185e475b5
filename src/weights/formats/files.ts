/** Files of adapters and models, read whole within a size limit. */
import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { invalid, isObject, type JsonObject } from '../../contract/index.ts'
import { parsed } from '../../dialects/index.ts'
import { isMissing } from '../../kit/index.ts'

const JSON_BYTES_MAX = 1024 * 1024

export async function readWhole(path: string, bytesMax: number, code: string): Promise<Buffer> {
  const bytes = await readIfThere(path, bytesMax, code)
  if (bytes === null) throw invalid(code, `${basename(path)} is missing from its folder; put it there`)
  return bytes
}

/** Null for a file that is not there. */
export async function readIfThere(path: string, bytesMax: number, code: string): Promise<Buffer | null> {
  const file = await openIfThere(path)
  if (file === null) return null
  try {
    const status = await file.stat()
    if (!status.isFile()) throw invalid(code, `${basename(path)} must be a file`)
    if (status.size > bytesMax) throw invalid(code, `${basename(path)} may be at most ${bytesMax} bytes`)
    const bytes = Buffer.allocUnsafeSlow(status.size)
    for (let filled = 0; filled < bytes.length;) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled)
      if (bytesRead === 0) throw invalid(code, `${basename(path)} became shorter while it was read; try again`)
      filled += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}

export async function readJsonObject(path: string, code: string): Promise<JsonObject> {
  const bytes = await readWhole(path, JSON_BYTES_MAX, code)
  const value = parsed(bytes.toString())
  if (isObject(value)) return value
  throw invalid(code, `${basename(path)} must be a JSON object`)
}

/** Null for a file that is not there. */
export async function sha256OfFile(path: string): Promise<string | null> {
  const file = await openIfThere(path)
  if (file === null) return null
  const digest = createHash('sha256')
  await pipeline(file.createReadStream(), digest)
  return digest.digest('hex')
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
