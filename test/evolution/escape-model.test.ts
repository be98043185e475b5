/** Programs that abuse the sandbox's relay to the model. */
import { expect, it } from 'vitest'
import { describeSandboxed } from '../support/sandbox.ts'
import { ANSWER, sandboxWorld, TOKEN } from './sandbox-world.ts'

const at = sandboxWorld()
const MODEL =
  'const { url, apiKey } = JSON.parse(require("node:fs").readFileSync("../model.json")); const key = { authorization: "Bearer " + apiKey };'
const PATH = '/v1/chat/completions'

/** Sends these bytes as they are, and prints what comes back until it ends. KEY stands for the key of the episode. */
const raw = (bytes: string): string =>
  `${MODEL} const socket = require("node:net").connect(17017, "127.0.0.1"); socket.on("error", () => undefined); socket.on("close", () => process.exit()); socket.pipe(process.stdout); socket.write(${JSON.stringify(bytes)}.replaceAll("KEY", apiKey))`
const statuses = (text: string): readonly string[] => [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = '']) => status)

await describeSandboxed('the way to the model', () => {
  it('leads there, with the service’s own token and nothing of the agent’s', async () => {
    const script = `${MODEL} fetch(url + "${PATH}", { method: "POST", headers: { ...key, "content-type": "application/json", "anthropic-beta": "mcp-client-2025-04-04, interleaved-thinking-2025-05-14", cookie: "c", "x-svc-scenario": "other", "x-forwarded-for": "1.2.3.4" }, body: "{}" }).then((answer) => answer.text()).then(console.log)`
    expect((await at.attempt(script)).stdout).toBe(`${ANSWER}\n`)
    const [{ headers, url } = expect.fail('no call reached the model')] = at.calls
    expect(url).toBe(PATH)
    expect(headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'anthropic-beta': 'interleaved-thinking-2025-05-14',
    })
    for (const name of ['cookie', 'x-svc-scenario', 'x-forwarded-for']) expect(headers).not.toHaveProperty(name)
  })

  it('leads to no other path, however it is spelt', async () => {
    const paths =
      '/ /svc/status /svc/scenarios /v1/models /v1/chat/completions/../../../svc/train /v1/chat/completions/.. /V1/chat/completions //v1/chat/completions /v1/chat%2fcompletions /v1/messages/batches /v1/chat/completions;x /v1/chat/completions#x'.split(
        ' ',
      )
    const script = paths.map(
      (path) => `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
    )
    for (const bytes of script) expect(statuses((await at.attempt(raw(bytes))).stdout)).toEqual([expect.stringMatching(/^40[04]$/)])
    expect(at.calls).toEqual([])
  })

  it('takes no other method', async () => {
    const script = `${MODEL} Promise.all(["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"].map((method) => fetch(url + "${PATH}", { method, headers: key }).then((answer) => answer.status))).then((all) => process.stdout.write(all.join()))`
    expect((await at.attempt(script)).stdout).toBe('405,405,405,405,405,405')
    expect(at.calls).toEqual([])
  })

  it('takes no other key, and none at all', async () => {
    const script = `${MODEL} Promise.all([{}, { authorization: "Bearer " }, { authorization: "Bearer ${TOKEN}" }, { "x-api-key": apiKey.slice(1) }, { ...key, "x-api-key": "other" }].map((headers) => fetch(url + "${PATH}", { method: "POST", headers, body: "{}" }).then((answer) => answer.status))).then((all) => process.stdout.write(all.join()))`
    expect((await at.attempt(script)).stdout).toBe('401,401,401,401,401')
    expect(at.calls).toEqual([])
  })

  it('is no proxy: neither for a whole address nor for a tunnel', async () => {
    const whole = `POST http://127.0.0.1:${at.port()}${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`
    expect(statuses((await at.attempt(raw(whole))).stdout)).toEqual(['404'])
    const tunnel = `CONNECT 127.0.0.1:${at.port()} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\n\r\n`
    expect(statuses((await at.attempt(raw(tunnel))).stdout)).toEqual([])
    const upgrade = `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer wrong\r\nconnection: upgrade\r\nupgrade: websocket\r\ncontent-length: 0\r\n\r\n`
    expect(statuses((await at.attempt(raw(upgrade))).stdout)).toEqual(['401'])
    expect(at.calls).toEqual([])
  })

  it('hides no second call in a first', async () => {
    const hidden = 'POST /svc/train HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'
    const head = `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\n`
    const smuggled = [
      `${head}content-length: 0\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`,
      `${head}content-length: ${hidden.length}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}content-length : 0\r\n\r\n${hidden}`,
      `${head}x: y\nz: w\r\ncontent-length: +1\r\n\r\n${hidden}`,
    ]
    for (const bytes of smuggled) expect(statuses((await at.attempt(raw(bytes), { timeoutSeconds: 10 })).stdout)).toEqual(['400'])
    expect(at.calls.filter(({ url }) => url !== PATH)).toEqual([])
  })

  it('holds a thousand connections off, and still lets the agent call afterwards', async () => {
    const script = `${MODEL} const { connect } = require("node:net"); let closed = 0; const all = Array.from({ length: 400 }, () => connect(17017, "127.0.0.1").on("error", () => undefined).on("close", () => { closed += 1; if (closed === 300) done() })); const done = () => { for (const socket of all) socket.destroy(); ask() }; const ask = () => fetch(url + "${PATH}", { method: "POST", headers: key, body: "{}" }).then((answer) => { process.stdout.write(String(answer.status)); process.exit() }, ask)`
    expect((await at.attempt(script)).stdout).toBe('200')
  })

  it('ends an upload that never ends', async () => {
    const script = `const part = Buffer.alloc(1 << 20, 120); ${MODEL} const call = require("node:http").request(url + "${PATH}", { method: "POST", headers: key }); call.on("error", () => { process.stdout.write("cut off"); process.exit() }); call.on("response", (answer) => { process.stdout.write(String(answer.statusCode)); process.exit() }); const more = () => { while (call.write(part)); call.once("drain", more) }; more()`
    expect((await at.attempt(script)).stdout).toMatch(/^(413|cut off)$/)
    const honest = `${MODEL} fetch(url + "${PATH}", { method: "POST", headers: key, body: Buffer.alloc(17 << 20) }).then((answer) => process.stdout.write(String(answer.status)), () => process.stdout.write("cut off"))`
    expect((await at.attempt(honest)).stdout).toMatch(/^(413|cut off)$/)
  })

  it('ends with the episode: calls on their way, and uploads that were never finished', async () => {
    const script = `${MODEL} const call = require("node:http").request(url + "${PATH}", { method: "POST", headers: key }); call.flushHeaders(); call.write("{", () => fetch(url + "/svc/train", { method: "POST", headers: key }).then(() => process.exit()))`
    expect((await at.attempt(script)).exitCode).toBe(0)
    for (const call of at.calls) expect(call.complete).toBe(false)
  })

  it('is not the way around its front: the socket itself asks for the same', async () => {
    const script = `${MODEL} const ask = (path, headers, body) => new Promise((resolve) => require("node:http").request({ socketPath: "/run/svc/model.sock", method: "POST", path, headers }, (answer) => resolve(answer.statusCode)).end(body)); Promise.all([ask("/svc/train", key), ask("${PATH}", {}), ask("${PATH}", key, "{}")]).then((all) => { process.stdout.write(all.join()); process.exit() })`
    expect((await at.attempt(script)).stdout).toBe('404,401,200')
  })
})
