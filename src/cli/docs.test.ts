/** `svc docs` as a person runs it: a server until Ctrl-C, and a clear word where it cannot be one. */
import { createServer, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { closeServer, listenOnLoopback } from '../../test/support/listen.ts'
import { until } from '../../test/support/wait.ts'
import { runCli } from './program.ts'
import { fakeSurroundings, type FakeTerminal } from './testing/surroundings.ts'

/** Runs until it is stopped. */
async function open(args: readonly string[], terminal?: FakeTerminal) {
  const surroundings = fakeSurroundings({}, {}, terminal)
  const ended = runCli(['docs', ...args], surroundings)
  await until(() => Promise.resolve(surroundings.printed.length > 0))
  const stop = async (): Promise<number> => {
    surroundings.signal('SIGINT')
    return ended
  }
  return { ...surroundings, stop, url: surroundings.printed[0] ?? '' }
}

let site: Awaited<ReturnType<typeof open>>
beforeAll(async () => {
  site = await open(['--port', '0'])
})
afterAll(() => site.stop())

/** The path as it stands: a browser would tidy it up. */
async function get(path: string, method = 'GET') {
  const { port } = new URL(site.url)
  const sent = request({ host: '127.0.0.1', port, path, method }).end()
  const answer = await new Promise<IncomingMessage>((resolve, reject) => sent.on('response', resolve).on('error', reject))
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

describe('the server', () => {
  it('shows the first page, the others, the script, the style and the index of the search', async () => {
    for (const [path, type, words] of [
      ['/', 'text/html', 'thirty seconds'],
      ['/index.html', 'text/html', 'harness'],
      ['/extend/recipe.html?a=b', 'text/html', 'A recipe'],
      ['/source/examples/evaluator/last-line.ts.html', 'text/html', 'evaluator'],
      ['/site.js', 'text/javascript', 'search-index.js'],
      ['/site.css', 'text/css', '--paper'],
      ['/search-index.js', 'text/javascript', 'svcPages'],
    ] as const) {
      const { status, headers, body } = await get(path)
      expect({ path, status, type: headers['content-type']?.split(';')[0] }).toEqual({ path, status: 200, type })
      expect(body).toContain(words)
      expect(headers['content-security-policy']).toContain("default-src 'none'")
    }
  })

  it('leads from a shorter address to the page, where its links begin', async () => {
    expect((await get('/guides')).headers.location).toBe('/guides/index.html')
    expect((await get('/guides/')).headers.location).toBe('/guides/index.html')
    expect((await get('/configuration')).headers.location).toBe('/configuration.html')
  })

  it.each([
    '/gone.html',
    '/../package.json',
    '/..%2f..%2fpackage.json',
    '/%2e%2e/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/a%00b',
    '/%E0%A4%A',
    '/<script>alert(1)</script>',
    '/__proto__',
    `/${'a/'.repeat(4000)}`,
  ])('answers %s with the page of missing pages', async (path) => {
    const { status, body } = await get(path)
    expect(status).toBe(404)
    expect(body).toContain('No such page')
    expect(body).not.toContain('alert(1)')
  })

  it('answers HEAD without a body, and no other method', async () => {
    expect(await get('/', 'HEAD')).toMatchObject({ status: 200, body: '' })
    expect(await get('/', 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })
})

describe('the command', () => {
  it('opens a browser at the page that is named, in any spelling, and ends with 0', async () => {
    const named = await open(['docs/extend/recipe.md', '--port', '0'], { hasBrowser: true })
    expect(named.opened).toEqual([named.url])
    expect(new URL(named.url).pathname).toBe('/extend/recipe.html')
    expect(named.complaints).toEqual([])
    expect(await named.stop()).toBe(0)
  })

  it('says where a browser is missing, and prints the address alone where nobody watches', async () => {
    const watched = await open(['--port', '0'], {})
    expect(watched.complaints.join()).toContain('no browser was found here')
    expect(await watched.stop()).toBe(0)
    expect(site.printed).toEqual([site.url])
    const quiet = await open(['--port', '0', '--no-open'], { hasBrowser: true })
    expect(quiet.opened).toEqual([])
    expect(await quiet.stop()).toBe(0)
  })

  it('prints JSON, and opens nothing', async () => {
    const asJson = await open(['guides', '--port', '0', '--json'], { hasBrowser: true })
    const { url, folder } = JSON.parse(asJson.url)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/guides\/index\.html$/)
    expect(folder).toMatch(/site$/)
    expect(asJson.opened).toEqual([])
    expect(await asJson.stop()).toBe(0)
  })

  it('refuses a port that is taken, a port that is none, and a page that there is not', async () => {
    const other = createServer()
    const taken = await listenOnLoopback(other)
    onTestFinished(() => closeServer(other))
    const surroundings = fakeSurroundings()
    expect(await runCli(['docs', '--port', String(taken)], surroundings)).toBe(1)
    expect(surroundings.complaints).toEqual([`port ${taken} cannot be used: choose another with --port, or leave it out`])
    for (const port of ['-1', '70000', 'x', '', '1.5']) {
      const wrong = fakeSurroundings()
      expect(await runCli(['docs', '--port', port], wrong)).toBe(2)
      expect(wrong.complaints.join()).toContain('from 0 to 65535')
    }
    const missing = fakeSurroundings()
    expect(await runCli(['docs', '../../etc/passwd'], missing)).toBe(1)
    expect(missing.complaints).toEqual(['there is no page ../../etc/passwd: svc docs shows them all'])
  })

  it('takes another port where the usual one is taken', async () => {
    const usual = createServer()
    // Another program of this machine may have it already, which is the same case.
    await new Promise<void>((resolve) => usual.on('error', () => resolve()).listen(8980, '127.0.0.1', resolve))
    onTestFinished(() => closeServer(usual))
    const elsewhere = await open([])
    expect(elsewhere.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect(new URL(elsewhere.url).port).not.toBe('8980')
    expect(await elsewhere.stop()).toBe(0)
  })
})
