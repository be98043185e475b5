/** How commands talk to the resident agent: one request on each connection, lines of JSON there and back. */
import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { hasCode } from '@svc-ai/agent/shared'
import { Failure, parseJson } from '@svc-ai/client/shared'
import { isData } from './fields.ts'
import { REQUEST_BYTES_MAX, REQUEST_SECONDS_MAX } from './limits.ts'
import type { Data } from './tree.ts'

/** One request. The signal is aborted when its caller disconnects. */
export type SocketAnswer = (request: Data, say: (line: Data) => void, signal: AbortSignal) => Promise<Data>

/** Only under the lock: what lies at the path is left by a process that is gone. */
export function listen(path: string, answer: SocketAnswer): Promise<Server> {
  rmSync(path, { force: true })
  const server = createServer((socket) => void attend(socket, answer))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      chmodSync(path, 0o600)
      resolve(server)
    })
  })
}

async function attend(socket: Socket, answer: SocketAnswer): Promise<void> {
  const gone = new AbortController()
  socket.on('error', () => undefined)
  socket.on('close', () => gone.abort(new Failure('the caller has gone')))
  const say = (line: Data): void => void (socket.writable && socket.write(`${JSON.stringify(line)}\n`))
  try {
    const request = parseJson(await firstLine(socket))
    say(isData(request) ? await answer(request, say, gone.signal) : { type: 'error', message: 'the request is no JSON object' })
  } catch (error) {
    say({ type: 'error', message: error instanceof Error ? error.message : String(error) })
  } finally {
    socket.end()
  }
}

function firstLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => reject(new Failure('no request came')), REQUEST_SECONDS_MAX * 1000)
    const settle = (how: () => void): void => {
      clearTimeout(timer)
      how()
    }
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
      const end = text.indexOf('\n')
      if (end >= 0) settle(() => resolve(text.slice(0, end)))
      else if (text.length > REQUEST_BYTES_MAX) settle(() => reject(new Failure('the request is too long')))
    })
    socket.on('close', () => settle(() => reject(new Failure('no request came'))))
  })
}

/** The last line of the answer; those before it are passed on as they come. Throws a `Failure` when no agent serves, or what it says is an error. */
export function askResident(path: string, request: Data, onLine: (line: Data) => void = () => undefined): Promise<Data> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let [text, last]: [string, Data | null] = ['', null]
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`))
    socket.on('error', (error) => reject(hasCode(error, 'ENOENT', 'ECONNREFUSED') ? notServed() : error))
    socket.setEncoding('utf8').on('data', (part: string) => {
      const lines = (text + part).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const said = parseJson(line)
        if (!isData(said)) continue
        last = said
        if (said['type'] === 'event') onLine(said)
      }
    })
    socket.on('close', () => {
      if (last === null || last['type'] === 'event')
        return reject(new Failure('the resident agent ended before it answered; start it again'))
      return last['type'] === 'error' ? reject(new Failure(String(last['message']))) : resolve(last)
    })
  })
}

const notServed = (): Failure => new Failure("no resident agent runs for this folder: start one with 'svc-native serve'")

/** Whether a resident agent serves there. */
export async function isServed(path: string): Promise<boolean> {
  try {
    await askResident(path, { type: 'control', action: 'status' })
    return true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}
