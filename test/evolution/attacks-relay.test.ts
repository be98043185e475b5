/** Calls that try to make the provider do something itself, to leave by another way, or to ask for more than the budget. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeSandboxed } from '../support/sandbox.ts'
import { sandboxWorld, TOKEN } from './sandbox-world.ts'

const at = sandboxWorld()
const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'
const MESSAGES = '/v1/messages'
/** No forwarded body may have it. */
const BAIT = 'evil-bait'
const ADDRESS = `https://${BAIT}.example/x`

type Body = Readonly<Record<string, unknown>>
type BodyRow = readonly [title: string, path: string, body: Body]

const chat = (title: string, more: Body): BodyRow => [title, CHAT, { messages: [{ role: 'user', content: 'hi' }], ...more }]
const chatPart = (title: string, part: Body, role = 'user'): BodyRow =>
  chat(title, { messages: [{ role, tool_call_id: 'c', content: [part] }] })
const response = (title: string, more: Body): BodyRow => [title, RESPONSES, { input: 'hi', ...more }]
const item = (title: string, one: Body): BodyRow => response(title, { input: [one] })
const message = (title: string, more: Body): BodyRow => [
  title,
  MESSAGES,
  { max_tokens: 8, messages: [{ role: 'user', content: 'hi' }], ...more },
]
const messagePart = (title: string, part: Body): BodyRow => message(title, { messages: [{ role: 'user', content: [part] }] })
const inResult = (part: Body): Body => ({ type: 'tool_result', tool_use_id: 't', content: [part] })

/** Each holds the bait where the provider would act on it. */
const BODIES: readonly BodyRow[] = [
  chat('a hosted tool of no known name', { tools: [{ type: `search_2099_${BAIT}` }] }),
  chat('an address beside a known tool', { tools: [{ type: 'function', function: { name: 'f' }, server_url: ADDRESS }] }),
  chat('an address inside a known tool', { tools: [{ type: 'function', function: { name: 'f', url: ADDRESS } }] }),
  chat('search by an option', { web_search_options: { user_location: BAIT } }),
  chat('plug-ins of a router', { plugins: [{ id: BAIT }] }),
  chat('other models beside the one', { models: [BAIT], route: BAIT, provider: { order: [BAIT] } }),
  chat('another model', { model: BAIT }),
  chat('a model that is no text', { model: [BAIT] }),
  chat('many answers', { n: 50, best_of: 50, user: BAIT }),
  chat('a stored conversation', { store: true, metadata: { a: BAIT } }),
  chat('a key of a shared cache', { prompt_cache_key: BAIT, safety_identifier: BAIT }),
  chat('a faster tier', { service_tier: BAIT, prediction: { type: 'content', content: BAIT } }),
  chat('an answer as sound', { modalities: ['audio', BAIT], audio: { voice: BAIT } }),
  chat('a prototype', JSON.parse(`{"__proto__": {"tools": [{"type": "${BAIT}"}]}, "constructor": "${BAIT}"}`)),
  chat('a choice of a hosted tool', { tool_choice: { type: 'mcp', server_label: BAIT } }),
  chatPart('an image by its address', { type: 'image_url', image_url: { url: ADDRESS } }),
  chatPart('an image by its address, in the result of a tool', { type: 'image_url', image_url: { url: ADDRESS } }, 'tool'),
  chatPart('an image by its address, as a text', { type: 'image_url', image_url: ADDRESS }),
  chatPart('an address behind a blank', { type: 'image_url', image_url: { url: ` data:image/png;base64,${BAIT}` } }),
  chatPart('an address as data without its encoding', { type: 'image_url', image_url: { url: `data:text/html,${BAIT}` } }),
  chatPart('an address after a scheme in capitals', { type: 'image_url', image_url: { url: `FILE:///${BAIT}` } }),
  chatPart('a file by its id', { type: 'file', file: { file_id: BAIT } }),
  chatPart('sound by its address', { type: 'input_audio', input_audio: { data: ADDRESS, format: 'wav' } }),
  chatPart('a video', { type: 'video_url', video_url: { url: ADDRESS } }),
  response('an earlier response', { previous_response_id: BAIT }),
  response('a conversation', { conversation: { id: BAIT } }),
  response('work in the background', { background: true, webhook: ADDRESS }),
  response('a stored prompt', { prompt: { id: BAIT } }),
  response('labels', { metadata: { a: BAIT }, safety_identifier: BAIT, prompt_cache_key: BAIT }),
  response('a remote server of tools', { tools: [{ type: 'mcp', server_label: BAIT, server_url: ADDRESS }] }),
  response('a search of files', { tools: [{ type: 'file_search', vector_store_ids: [BAIT] }] }),
  response('a container', { tools: [{ type: 'code_interpreter', container: BAIT }] }),
  response('a hosted shell', { tools: [{ type: 'shell', environment: BAIT }] }),
  response('a made image', { tools: [{ type: 'image_generation', model: BAIT }] }),
  response('a hosted tool in a namespace', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp', server_url: ADDRESS }] }] }),
  response('the sources of a search', { include: [`web_search_call.${BAIT}`] }),
  response('a list of tools as an object', { tools: { 0: { type: BAIT } } }),
  response('thoughts kept elsewhere', { reasoning: { effort: 'low', context: BAIT } }),
  item('an item by its id', { type: 'item_reference', id: BAIT }),
  item('an item of no known type', { type: `compaction_${BAIT}`, encrypted_content: BAIT }),
  item('a consent to a remote server', { type: 'mcp_approval_response', approval_request_id: BAIT, approve: true }),
  item('thoughts by their id', { type: 'reasoning', id: BAIT, summary: [] }),
  item('an image by its id', { role: 'user', content: [{ type: 'input_image', file_id: BAIT }] }),
  item('a file by its address', { role: 'user', content: [{ type: 'input_file', file_url: ADDRESS }] }),
  item('an image by its address, in the result of a tool', {
    type: 'function_call_output',
    call_id: 'c',
    output: [{ type: 'input_image', image_url: ADDRESS }],
  }),
  message('a fetch by the provider', { tools: [{ type: `web_fetch_${BAIT}`, name: 'web_fetch' }] }),
  message('remote servers of tools', { mcp_servers: [{ type: 'url', url: ADDRESS, name: BAIT }] }),
  message('a container', { container: BAIT }),
  message('the name of a user', { metadata: { user_id: BAIT } }),
  message('a tool that was called by code', { tools: [{ name: 'f', input_schema: {}, allowed_callers: [BAIT] }] }),
  message('context kept by the provider', { context_management: { edits: [{ type: BAIT }] } }),
  message('a long life in the cache', { system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: BAIT } }] }),
  messagePart('an image by its address', { type: 'image', source: { type: 'url', url: ADDRESS } }),
  messagePart('an image by its address, in the result of a tool', inResult({ type: 'image', source: { type: 'url', url: ADDRESS } })),
  messagePart('a document by its id', { type: 'document', source: { type: 'file', file_id: BAIT } }),
  messagePart('a document around an address', {
    type: 'document',
    source: { type: 'content', content: [{ type: 'image', source: { type: 'url', url: ADDRESS } }] },
  }),
  messagePart('a result of a search', { type: 'search_result', source: ADDRESS, title: BAIT, content: [] }),
  messagePart('a call of a hosted tool', { type: 'server_tool_use', id: 's', name: 'web_fetch', input: { url: ADDRESS } }),
  messagePart('a file in a container', { type: 'container_upload', file_id: BAIT }),
  ['remote servers where tokens are counted', `${MESSAGES}/count_tokens`, { messages: [], mcp_servers: [{ url: ADDRESS }] }],
]

const GOOD = '{"messages":[]}'
/** Bytes as they are, with headers; and which statuses the caller may get. */
type ByteRow = readonly [title: string, headers: readonly string[], body: Buffer, statuses: readonly number[]]
const utf16 = Buffer.from(GOOD, 'utf16le')
const BYTES: readonly ByteRow[] = [
  ['UTF-16', [], utf16, [400]],
  ['UTF-16 with a mark', [], Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), [400]],
  ['UTF-16, the other order', [], Buffer.from(utf16).swap16(), [400]],
  ['gzip', ['content-encoding: gzip'], gzipSync(GOOD), [400]],
  ['deflate', ['content-encoding: deflate'], deflateSync(GOOD), [400]],
  ['brotli', ['content-encoding: br'], brotliCompressSync(GOOD), [400]],
  ['gzip that grows a thousand times', ['content-encoding: gzip'], gzipSync(Buffer.alloc(1 << 24)), [400]],
  ['plain bytes that are said to be gzip', ['content-encoding: gzip'], Buffer.from(GOOD), [200]],
  ['a list', [], Buffer.from('[]'), [400]],
  ['nothing', [], Buffer.alloc(0), [400]],
  ['two bodies in one', [], Buffer.from(GOOD + GOOD), [400]],
  ['a comment', [], Buffer.from(`/* */${GOOD}`), [400]],
  ['a hundred thousand lists in lists', [], Buffer.from(`{"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), [200, 400, 502]],
  [
    'a schema that is too deep',
    [],
    Buffer.from(
      `{"messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}}]}`,
    ),
    [200],
  ],
  ['a member twice', [], Buffer.from(`{"messages":[],"model":"${BAIT}","model":"m"}`), [200]],
  ['a member twice, in other letters', [], Buffer.from(`{"messages":[],"\\u006dodel":"${BAIT}"}`), [200]],
  ['more tokens than there are numbers', [], Buffer.from('{"messages":[],"max_tokens":1e400}'), [200]],
  ['tokens below zero', [], Buffer.from('{"messages":[],"max_tokens":-1}'), [200]],
  ['more tokens than the budget', [], Buffer.from('{"messages":[],"max_tokens":900000000}'), [403]],
  ['a second limit, above the budget', [], Buffer.from('{"messages":[],"max_tokens":1,"max_completion_tokens":900000000}'), [403]],
  ['the type of a form', ['content-type: multipart/form-data; boundary=x'], Buffer.from(GOOD), [200]],
]

/** The head of a request in raw lines; `KEY` is the episode's own. */
type LineRow = readonly [title: string, lines: readonly string[], statuses: readonly (number | null)[]]
const post = (path: string): string => `POST ${path} HTTP/1.1`
const HEAD = ['host: x', 'authorization: Bearer KEY']
const EMPTY = ['content-length: 0']
const path = (title: string, to: string): LineRow => [title, [post(to), ...HEAD, ...EMPTY], [400, 404]]
const LINES: readonly LineRow[] = [
  path('two slashes first', `/${CHAT}`),
  path('a dot between', '/v1/./chat/completions'),
  path('two dots after', `${CHAT}/../../svc/train`),
  path('two dots in code', '/v1/%2e%2e/svc/train'),
  path('a query', `${CHAT}?x=1`),
  path('the known query and another', `${MESSAGES}?beta=true&url=${BAIT}`),
  path('the known query twice', `${MESSAGES}?beta=true?beta=true`),
  path('the known query in code', `${MESSAGES}%3Fbeta=true`),
  path('a backslash', '/v1\\chat\\completions'),
  path('stored files', '/v1/files'),
  path('a stored response', `${RESPONSES}/resp_1`),
  path('a batch', `${MESSAGES}/batches`),
  path('vectors', '/v1/embeddings'),
  path('the routes of the service', '/svc/harness/releases'),
  path('the address of another host', `http://127.0.0.1:1${CHAT}`),
  path('a host before the path', `@${BAIT}.example${CHAT}`),
  ['HTTP/2 at once', ['PRI * HTTP/2.0', '', 'SM', ''], [400, null]],
  [
    'HTTP/2 by an upgrade',
    [post(CHAT), ...HEAD, 'connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__', ...EMPTY],
    [400, null],
  ],
  [
    'a web socket',
    [
      `GET ${RESPONSES} HTTP/1.1`,
      ...HEAD,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    ],
    [405, null],
  ],
  ['a tunnel', ['CONNECT 169.254.169.254:80 HTTP/1.1', ...HEAD], [null]],
  ['an echo', [`TRACE ${CHAT} HTTP/1.1`, ...HEAD], [400, 405]],
  ['a method that is none', [`LEAK ${CHAT} HTTP/1.1`, ...HEAD], [400]],
  ['a folded header', [post(CHAT), 'host: x', 'authorization: Bearer', ' KEY', ...EMPTY], [400, 401]],
  ['a header with a lone line feed', [post(CHAT), ...HEAD, `x: y\nx-svc-scenario: ${BAIT}`, ...EMPTY], [400]],
  ['a header with a zero', [post(CHAT), ...HEAD, `x: y\0${BAIT}`, ...EMPTY], [400]],
  // The connection may be gone before the refusal is read.
  ['a header of a hundred kilobytes', [post(CHAT), ...HEAD, `x: ${'y'.repeat(100_000)}`, ...EMPTY], [431, null]],
  ['ten thousand headers', [post(CHAT), ...HEAD, ...Array.from({ length: 10_000 }, (_, index) => `x${index}: y`), ...EMPTY], [431, null]],
  ['a length in hexadecimal', [post(CHAT), ...HEAD, 'content-length: 0x2'], [400]],
  ['two lengths', [post(CHAT), ...HEAD, 'content-length: 2', 'content-length: 3'], [400]],
  ['a length beside chunks', [post(CHAT), ...HEAD, 'content-length: 2', 'transfer-encoding: chunked'], [400]],
  ['chunks under a second name', [post(CHAT), ...HEAD, 'transfer-encoding: gzip, chunked, identity'], [400]],
  ['a key that is too short', [post(CHAT), 'host: x', 'authorization: Bearer K', ...EMPTY], [401]],
  ['the key of the service', [post(CHAT), 'host: x', `authorization: Bearer ${TOKEN}`, ...EMPTY], [401]],
  ['a second key that is wrong', [post(CHAT), ...HEAD, 'x-api-key: other', ...EMPTY], [401]],
  ['an old version', [`POST ${CHAT} HTTP/0.9`, ...HEAD, ...EMPTY], [400]],
]

/** Sends all of them, one after the other, each over a connection of its own. Prints the status of each, null where none came. */
const PROGRAM = `
const { url, apiKey } = JSON.parse(require("node:fs").readFileSync("../model.json"))
const { connect } = require("node:net")
const raw = (bytes) => new Promise((resolve) => {
  let said = ""
  const socket = connect(17017, "127.0.0.1", () => socket.write(bytes))
  const end = () => { socket.destroy(); resolve(Number(/^HTTP\\S* (\\d{3})/.exec(said)?.[1] ?? NaN)) }
  socket.on("data", (part) => { said += part; end() }).on("error", end).on("close", end)
  setTimeout(end, 3000).unref()
})
const ask = (path, body) => fetch(url + path, { method: "POST", headers: { authorization: "Bearer " + apiKey }, body }).then((answer) => answer.status)
const { bodies, bytes, lines } = JSON.parse(require("node:fs").readFileSync("rows.json"))
const main = async () => {
  const said = { bodies: [], bytes: [], lines: [] }
  for (const [path, body] of bodies) said.bodies.push(await ask(path, body))
  for (const [headers, body] of bytes) {
    const data = Buffer.from(body, "base64")
    const head = ["POST ${CHAT} HTTP/1.1", "host: x", "authorization: Bearer " + apiKey, "connection: close", "content-length: " + data.length, ...headers]
    said.bytes.push(await raw(Buffer.concat([Buffer.from(head.join("\\r\\n") + "\\r\\n\\r\\n"), data])))
  }
  for (const head of lines) said.lines.push(await raw(Buffer.from(head.join("\\r\\n").replace("KEY", apiKey) + "\\r\\n\\r\\n", "latin1")))
  process.stdout.write(JSON.stringify(said))
  process.exit()
}
main()`

interface Said {
  readonly bodies: readonly number[]
  readonly bytes: readonly number[]
  readonly lines: readonly (number | null)[]
}

const titled = <Row extends readonly [string, ...unknown[]]>(rows: readonly Row[]) =>
  rows.map((row, index) => ({ title: row[0], row, index }))

await describeSandboxed('attacks through the model', () => {
  let said: Said = { bodies: [], bytes: [], lines: [] }
  let forwarded: readonly string[] = []
  let headers: readonly string[] = []

  beforeAll(async () => {
    const rows = {
      bodies: BODIES.map(([, to, body]) => [to, JSON.stringify(body)]),
      bytes: BYTES.map(([, more, body]) => [more, body.toString('base64')]),
      lines: LINES.map(([, lines]) => lines),
    }
    const { stdout, stderr } = await at.attempt(PROGRAM, {
      timeoutSeconds: 120,
      play: { workspace: { 'rows.json': JSON.stringify(rows) } },
    })
    expect(stdout, stderr).not.toBe('')
    said = JSON.parse(stdout)
    forwarded = [...at.bodies]
    headers = at.calls.map((call) => JSON.stringify([call.method, call.url, call.headers]))
  })

  describe('a body with', () => {
    it.each(titled(BODIES))('$title', ({ row: [, to], index }) => {
      expect(said.bodies[index]).toBe(200)
      const body = JSON.parse(forwarded[index] ?? '{}')
      expect(JSON.stringify(body)).not.toContain(BAIT)
      expect(body).toMatchObject({ model: 'm', ...(to === RESPONSES && { store: false }) })
    })
  })

  describe('bytes:', () => {
    it.each(titled(BYTES))('$title', ({ row: [, , , statuses], index }) => expect(statuses).toContain(said.bytes[index]))
  })

  describe('a request with', () => {
    it.each(titled(LINES))('$title', ({ row: [, , statuses], index }) => expect(statuses).toContain(said.lines[index]))
  })

  it('nothing else left: every body is built here, for the one model, by one of the known routes', () => {
    expect(forwarded.filter((body) => body.includes(BAIT) || JSON.parse(body).model !== 'm')).toEqual([])
    expect(forwarded.filter((body) => /"(?:max_tokens|max_completion_tokens)":(?:null|-|\d{6})/.test(body))).toEqual([])
    expect(headers.filter((line) => line.includes(BAIT) || line.includes('content-encoding') || line.includes('upgrade'))).toEqual([])
    expect(headers.every((line) => /^\["POST","\/v1\/(?:chat\/completions|responses|messages(?:\/count_tokens)?)",/.test(line))).toBe(true)
  })
})

const MODEL =
  'const { url, apiKey } = JSON.parse(require("node:fs").readFileSync("../model.json")); const headers = { authorization: "Bearer " + apiKey }; const http = require("node:http");'

await describeSandboxed('the budget', () => {
  it('holds against two thousand calls at once', async () => {
    const script = `${MODEL} const ask = () => fetch(url + "${CHAT}", { method: "POST", headers, body: "{}" }).then((answer) => answer.status, () => 0); Promise.all(Array.from({ length: 2000 }, ask)).then((all) => { process.stdout.write(String(all.filter((status) => status === 200).length)); process.exit() })`
    const { stdout } = await at.attempt(script, { limits: { model_calls: 7 }, timeoutSeconds: 60 })
    expect(Number(stdout)).toBeLessThanOrEqual(7)
    expect(at.calls.length).toBeLessThanOrEqual(7)
  })

  it('counts calls whose answer nobody waited for', async () => {
    const script = `${MODEL} let left = 60; const next = () => { if (left-- === 0) return process.exit(); const call = http.request(url + "${CHAT}", { method: "POST", headers }, () => undefined); call.on("error", () => undefined).on("close", next); call.end("{}", () => setTimeout(() => call.destroy(), 5)) }; next()`
    await at.attempt(script, { limits: { model_calls: 7 }, timeoutSeconds: 60 })
    expect(at.calls.length).toBeLessThanOrEqual(7)
  })

  it('counts calls that only count tokens', async () => {
    const script = `${MODEL} const ask = () => fetch(url + "${MESSAGES}/count_tokens", { method: "POST", headers, body: "{}" }).then((answer) => answer.status); (async () => { for (let i = 0; i < 9; i += 1) await ask(); process.exit() })()`
    await at.attempt(script, { limits: { model_calls: 7 } })
    expect(at.calls).toHaveLength(7)
  })

  it('ends bodies that come a byte at a time with the episode', async () => {
    const script = `${MODEL} const call = http.request(url + "${CHAT}", { method: "POST", headers: { ...headers, "content-length": 1000 } }); call.on("error", () => undefined); let sent = 0; setInterval(() => { call.write("{"); if ((sent += 1) > 20) process.exit() }, 5)`
    expect((await at.attempt(script)).exitCode).toBe(0)
    expect(at.calls).toEqual([])
  })
})
