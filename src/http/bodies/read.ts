/** Reads a request's body up to its limit, and within what all bodies may take together. */
import type { IncomingMessage } from 'node:http'
import { BODY_BYTES_MAX, invalid, tooLarge } from '../../contract/index.ts'
import { BytePieces } from '../../kit/index.ts'
import type { BodyHold } from './budget.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Up to this length, or in pieces that are shorter on average, a copy costs less than what each piece costs on its way. */
const JOINED_BYTES_MAX = 64 * KIB
const PIECE_BYTES_MIN = 4 * KIB

export function readBody(request: IncomingMessage, bytesMax: number, hold: BodyHold): Promise<BytePieces> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') throw invalid('encoded_body', 'content-encoding: send the body uncompressed')
  // Its client left while something else was waited for: nothing more is told of it.
  if (request.destroyed) throw cutOff()
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > BODY_BYTES_MAX) throw overLimit(bytesMax)
  return new Promise((resolve, reject) => {
    let parts: Buffer[] = []
    let bytes = 0
    let refusal: unknown = length > bytesMax ? overLimit(bytesMax) : null
    const refuse = (error: unknown): void => {
      refusal = error
      parts = []
      hold.close()
    }
    const take = (part: Buffer): void => {
      bytes += part.length
      // Many clients send all they have before they read: cut off, they would never see the refusal. So the rest is read, and let go of.
      if (refusal !== null) {
        if (bytes > BODY_BYTES_MAX) reject(refusal)
      } else if (bytes > bytesMax) refuse(overLimit(bytesMax))
      else {
        try {
          hold.add(part.length)
          parts.push(part)
        } catch (error) {
          refuse(error)
        }
      }
    }
    request.on('data', take)
    request.on('end', () => {
      if (refusal !== null) return reject(refusal)
      resolve(gathered(parts, bytes))
      parts = []
    })
    request.on('error', () => reject(cutOff()))
    request.on('close', () => {
      if (!request.readableEnded) reject(cutOff())
    })
  })
}

function gathered(parts: readonly Buffer[], bytes: number): BytePieces {
  const isJoined = parts.length !== 1 && (bytes <= JOINED_BYTES_MAX || bytes < parts.length * PIECE_BYTES_MIN)
  return new BytePieces(isJoined ? [Buffer.concat(parts, bytes)] : parts)
}

function cutOff(): Error {
  return invalid('body_cut_off', 'the body stopped before its announced end; send it again')
}

function overLimit(bytesMax: number): Error {
  const limit = bytesMax < MIB ? `${bytesMax / KIB} KiB` : `${bytesMax / MIB} MiB`
  return tooLarge(`the body is larger than the ${limit} this route takes; send less at a time`)
}
