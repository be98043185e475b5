/** The canned upstream's process: JSON answers by the request's size, streams by the plan in the model name. */

import { createServer, type Socket } from 'node:net'
import { FORMAT, planOf, SHAPES, shapeOfLength, type StreamPlan } from './formats.ts'
import { MessageReader, type MessageSink } from './http-reader.ts'
import { FORMATS } from './options.ts'

const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\ntransfer-encoding: chunked\r\n\r\n'
/** Gateways may put the model's name last. */
const PLAN_WITHIN_BYTES = 4096
const STREAM_END = '0\r\n\r\n'

/** Answers are built once, since the upstream must be cheap. */
const answers = new Map<string, Buffer>()
const streams = new Map<string, readonly Buffer[]>()

function answerTo(path: string, bytes: number): Buffer {
  const shape = shapeOfLength(bytes)
  const key = `${path} ${shape}`
  const known = answers.get(key)
  if (known !== undefined) return known
  const body = formatAt(path).answer(SHAPES[shape].answerBytes)
  const made = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  answers.set(key, made)
  return made
}

function chunksOf(path: string, plan: StreamPlan): readonly Buffer[] {
  const key = `${path} ${plan.tokens}`
  const known = streams.get(key)
  if (known !== undefined) return known
  const frames = formatAt(path).stream(plan.tokens)
  const chunks = frames.map((frame) => `${frame.length.toString(16)}\r\n${frame}\r\n`)
  const made = chunks.map((chunk, index) => Buffer.from(`${index === 0 ? STREAM_HEAD : ''}${chunk}${atEnd(chunks, index)}`))
  streams.set(key, made)
  return made
}

function atEnd(chunks: readonly string[], index: number): string {
  return index === chunks.length - 1 ? STREAM_END : ''
}

function formatAt(path: string): (typeof FORMAT)[keyof typeof FORMAT] {
  const name = FORMATS.find((candidate) => path.startsWith(FORMAT[candidate].path))
  return FORMAT[name ?? 'chat']
}

/** The first token is sent at once; the others at the plan's pace, or all in a row. */
function play(socket: Socket, chunks: readonly Buffer[], gapMs: number): void {
  if (gapMs === 0) {
    for (const chunk of chunks) socket.write(chunk)
    return
  }
  let next = 0
  const step = (): void => {
    const chunk = chunks[next]
    if (chunk !== undefined) socket.write(chunk)
    next += 1
    if (next >= chunks.length || socket.destroyed) clearInterval(timer)
  }
  const timer = setInterval(step, gapMs)
  step()
}

/** Answers the requests of one connection. Only the start of a body is read, which holds the plan. */
class Answering implements MessageSink {
  readonly #socket: Socket
  #path = ''
  #bytes = 0
  #start = ''

  constructor(socket: Socket) {
    this.#socket = socket
  }

  head(text: string): void {
    this.#path = text.split(' ', 2)[1] ?? ''
    this.#bytes = 0
    this.#start = ''
  }

  body(bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#start.length < PLAN_WITHIN_BYTES) this.#start += bytes.toString('latin1', 0, Math.min(bytes.length, PLAN_WITHIN_BYTES))
  }

  end(): void {
    const plan = planOf(this.#start)
    if (plan === undefined) this.#socket.write(answerTo(this.#path, this.#bytes))
    else play(this.#socket, chunksOf(this.#path, plan), plan.gapMs)
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  const reader = new MessageReader(new Answering(socket))
  socket.on('data', (bytes) => reader.push(bytes))
  socket.on('error', () => socket.destroy())
})
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4096 })
