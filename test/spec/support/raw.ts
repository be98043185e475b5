/** Sends raw bytes, for requests that no client library would send. */
import { connect } from 'node:net'

/** Writes the text and reads the answer; when cut off, it disconnects after writing. */
export function sendRaw(address: string, text: string | Uint8Array, { isCutOff = false } = {}): Promise<string> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () =>
      socket.write(text, () => (isCutOff ? socket.destroy() : undefined)),
    )
    socket.on('data', (part) => {
      parts.push(part)
      if (isWhole(Buffer.concat(parts).toString('latin1'))) socket.destroy()
    })
    socket.on('close', () => resolve(Buffer.concat(parts).toString()))
    // The service may close early; its answer counts.
    socket.on('error', (error) => (parts.length === 0 ? reject(error) : resolve(Buffer.concat(parts).toString())))
  })
}

/** A request line and headers, without the host line and the blank line at the end. */
export function requestHead(method: string, path: string, headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'host: svc', 'connection: close', ...headers, '', ''].join('\r\n')
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? Number.POSITIVE_INFINITY)
  return end !== -1 && answer.length >= end + 4 + length
}
