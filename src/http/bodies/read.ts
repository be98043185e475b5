/** Reads a request's body up to its limit, and within what all bodies may take together. */
import type { IncomingMessage } from 'node:http'
import { invalid, tooLarge } from '../../contract/index.ts'
import type { BodyHold } from './budget.ts'

const KIB = 1024
const MIB = 1024 * KIB

export function readBody(request: IncomingMessage, bytesMax: number, hold: BodyHold): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw invalid('encoded_body', 'content-encoding: send the body uncompressed')
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > bytesMax) throw overLimit(bytesMax)
  return new Promise((resolve, reject) => {
    let parts: Buffer[] = []
    let bytes = 0
    const giveUp = (error: unknown): void => {
      parts = []
      request.off('data', take)
      request.resume()
      hold.close()
      reject(error)
    }
    const take = (part: Buffer): void => {
      bytes += part.length
      if (bytes > bytesMax) return giveUp(overLimit(bytesMax))
      try {
        hold.add(part.length)
        parts.push(part)
      } catch (error) {
        giveUp(error)
      }
    }
    request.on('data', take)
    request.on('end', () => {
      resolve(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts))
      parts = []
    })
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
  const limit = bytesMax < MIB ? `${bytesMax / KIB} KiB` : `${bytesMax / MIB} MiB`
  return tooLarge(`the body is larger than the ${limit} this route takes; send less at a time`)
}
