/** Reads a request's body up to its limit. */
import type { IncomingMessage } from 'node:http'
import { invalid, tooLarge } from '../contract/index.ts'

const MIB = 1024 * 1024

export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw invalid('encoded_body', 'content-encoding: send the body uncompressed')
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > bytesMax) throw overLimit(bytesMax)
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    request.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes > bytesMax) reject(overLimit(bytesMax))
      else parts.push(part)
    })
    request.on('end', () => resolve(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)))
    request.on('error', () => reject(cutOff()))
    request.on('close', () => {
      if (!request.complete) reject(cutOff())
    })
  })
}

function cutOff(): Error {
  return invalid('body_cut_off', 'the body stopped before its announced end; send it again')
}

function overLimit(bytesMax: number): Error {
  return tooLarge(`the body is larger than the ${bytesMax / MIB} MiB this route takes; send less at a time`)
}
