/** A model served by the executor suite, and a command that calls it. */
import { createServer, type IncomingMessage } from 'node:http'
import type { ModelAddress } from '../src/contract/index.ts'

/** A model that is never called. */
export const MODEL: ModelAddress = { url: 'http://127.0.0.1:9', model: 'm', api: 'openai', apiKey: 'key-of-the-suite' }

/** Calls the model that the file `model.json` names, and prints its answer. */
export const CALL = `const { url, apiKey, model } = JSON.parse(require("fs").readFileSync("../model.json"))
  fetch(url + "/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer " + apiKey, "content-type": "application/json" },
    body: JSON.stringify({ model }),
  }).then((answer) => answer.text()).then((text) => process.stdout.write(text))`
export const ANSWER = '{"answer":"é"}'

interface Call {
  readonly request: IncomingMessage
  /** The caller has disconnected. */
  readonly closed: Promise<unknown>
}
interface Model {
  readonly address: ModelAddress
  readonly calls: readonly Call[]
  readonly called: Promise<Call>
}

/** The model `silent` never answers. */
export async function withModel(use: (model: Model) => Promise<void>): Promise<void> {
  const calls: Call[] = []
  const { promise: called, resolve } = Promise.withResolvers<Call>()
  const server = createServer((request, response) => {
    const call = { request, closed: new Promise((close) => response.on('close', close)) }
    calls.push(call)
    resolve(call)
    const parts: Buffer[] = []
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        if (!Buffer.concat(parts).includes('silent')) response.end(ANSWER)
      })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  try {
    await use({ address: { ...MODEL, url: `http://127.0.0.1:${port}` }, calls, called })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
