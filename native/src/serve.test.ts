/** The resident agent and the commands that talk to it, against a service that the test plays. */
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { keepRelease } from '@svc-ai/client/shared'
import { COMPILED } from '../../test/support/compiled.ts'
import { deployment, signedManifest } from '../../client/src/testing/signed.ts'
import { entry, folder, speak, start, tool, type Line, type Ran } from './testing/native.ts'
import { json, upstream, type FakeUpstream } from '../../agent/src/testing/upstream.ts'
import { placesIn } from './places.ts'
import { filesOf, type TrialEntry } from './trial-tree.ts'

const rules = (text: string): TrialEntry => entry('rules', { text })
const echo = tool('echo', 'export const run = ({ text }: { text: string }): string => text')

const hang: Line = (response) => void response.writeHead(200).write('{')

interface Service extends FakeUpstream {
  /** By release, the served one last; texts are files as they are. */
  readonly releases: Map<string, readonly TrialEntry[] | Readonly<Record<string, string>>>
  readonly lines: Line[]
  /** The provisional release; null: there is none. */
  unproven: string | null
  isDown: boolean
  /** How many further manifests break off. */
  broken: number
  state: string
}

const DEPLOYMENT = deployment()

const isEntries = (value: unknown): value is readonly TrialEntry[] => Array.isArray(value)

async function service(first: readonly TrialEntry[] = [rules('First.'), echo]): Promise<Service> {
  let receipts = 0
  const releases: Service['releases'] = new Map([['r1', first]])
  const lines: Line[] = []
  const stepOf = (release: string): number => [...releases.keys()].indexOf(release)
  const served = await upstream((heard, response) => {
    const { pathname, searchParams } = new URL(heard.url, 'http://x')
    if (self.isDown) return json(response, 503, { error: { message: 'away' } })
    const head = [...releases.keys()].findLast((release) => release !== self.unproven) ?? ''
    const chosen = heard.headers['x-svc-provisional'] === 'yes' ? (self.unproven ?? head) : head
    const wanted = searchParams.get('release_id') ?? chosen
    const isUnproven = wanted === self.unproven
    const content = releases.get(wanted)
    const files = isEntries(content) ? { ...filesOf(content), 'native/tree.json': JSON.stringify(content) } : content
    const about = { agent_record_id: 'request-1', scenario: 's', request_type: 'train' }
    switch (pathname) {
      case '/svc/harness':
        if (self.broken > 0) {
          self.broken -= 1
          return void response.destroy()
        }
        if (files === undefined) return json(response, 404, { error: { message: 'unknown release' } })
        return json(response, 200, {
          ...signedManifest(
            DEPLOYMENT,
            { release_id: wanted, content_id: `c-${wanted}`, step: stepOf(wanted), held: isUnproven },
            { files },
          ),
          ...(isUnproven && { provisional: true }),
        })
      case '/v1/chat/completions':
        response.setHeader('x-svc-release-id', head).setHeader('x-svc-agent-record-id', `receipt-${(receipts += 1)}`)
        return speak(lines.shift() ?? 'ok', response, heard)
      case '/svc/scenarios':
        return json(response, 200, { scenarios: [{ scenario: 's', loaded: true, recipe: 'r', model: { model: 'the-model' } }] })
      case '/svc/harness/proposals':
        return json(response, 200, { proposal_id: 'p-1', admitted: true, reason: null, release_id: head })
      case '/svc/train':
        return json(response, 200, { ...about, page_path: '/page' })
      case '/svc/report':
        return json(response, 200, { ...about, request_type: 'report' })
      case '/svc/harness/releases':
        return json(response, 200, { scenario: 's', releases: [] })
      default:
        return json(response, 200, { request_id: 'request-1', settled: true, state: self.state, meaning: null, step: 3 })
    }
  })
  const self: Service = { ...served, releases, lines, unproven: null, isDown: false, broken: 0, state: 'published' }
  return self
}

interface Home {
  readonly tree: string
  readonly env: NodeJS.ProcessEnv
  run(...args: readonly string[]): Ran
  serve(svc: Service, ...more: readonly string[]): Promise<Ran>
}

function home(): Home {
  const root = folder()
  const [tree, cwd] = [join(root, 'tree'), join(root, 'work')]
  mkdirSync(tree)
  mkdirSync(cwd)
  const env = { HOME: root, SVC_TOKEN: 'the-token-of-the-service', ...COMPILED }
  const run = (...args: readonly string[]): Ran => start([...args, '--tree', tree], { cwd, env })
  return {
    tree,
    env,
    run,
    async serve(svc, ...more) {
      const ran = run('serve', '--scenario', 's', '--url', svc.url, ...more)
      await said(ran, 'serving')
      return ran
    },
  }
}

/** A resident agent in a home of its own, and its service. */
async function serving(...more: readonly string[]) {
  const [svc, at] = [await service(), home()]
  return { svc, at, ran: await at.serve(svc, ...more) }
}

/** Until these words are on its standard error, also those from before. */
async function said({ child, said: heard }: Ran, words: string): Promise<void> {
  while (!heard.stderr.includes(words)) {
    if (child.stderr === null) return
    const [part]: unknown[] = await Promise.race([once(child.stderr, 'data'), once(child, 'exit')])
    if (typeof part !== 'string') throw new Error(`it ended without saying ${words}: ${heard.stderr}`)
  }
}

const bodies = ({ heard }: Service, path: string): readonly Record<string, unknown>[] =>
  heard.filter(({ url }) => url.startsWith(path)).map(({ body }): Record<string, unknown> => JSON.parse(body))
const status = async (at: Home): Promise<Record<string, unknown>> => JSON.parse((await at.run('status', '--json').end).stdout)

describe('svc-native serve', () => {
  it('pulls the harness, takes turns for any caller, and keeps a conversation', async () => {
    const { svc, at, ran } = await serving()
    svc.lines.push({ echo: { text: 'hi' } }, 'said hi')
    expect(await at.run('turn', '-p', '--first', '--session', 'mine').end).toEqual({
      code: 0,
      stdout: 'said hi\n',
      stderr: 'echo {"text":"hi"}\nsession mine, release r1\n',
    })
    expect(await at.run('turn', '-p', 'second', '--session', 'mine', '--quiet').end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' })
    const asked = bodies(svc, '/v1/').at(-1)
    expect(asked).toMatchObject({ model: 'the-model' })
    expect(asked?.['messages']).toMatchObject([
      {},
      { content: '--first' },
      {},
      { role: 'tool' },
      { content: 'said hi' },
      { content: 'second' },
    ])
    const headers = svc.heard.find(({ url }) => url.startsWith('/v1/'))?.headers
    expect(headers).toMatchObject({ 'x-svc-scenario': 's', 'x-svc-tag-release': 'r1', authorization: 'Bearer the-token-of-the-service' })
    expect(await status(at)).toMatchObject({ release_id: 'r1', scenario: 's', follow: 'pinned', turns: 2 })
    ran.child.kill('SIGTERM')
    expect((await ran.end).code).toBe(0)
    expect([existsSync(placesIn(at.tree).socket), readdirSync(join(at.tree, 'native')).includes('serve.lock')]).toEqual([false, false])
  })

  it('mounts the release that an answer speaks of, between two turns', async () => {
    const { svc, at, ran } = await serving('--follow', 'head')
    svc.releases.set('r2', [rules('Second.'), echo])
    expect(await at.run('turn', '-p', 'x').end).toMatchObject({ code: 0 })
    await said(ran, 'r2 is mounted')
    await at.run('turn', '-p', 'y').end
    expect(JSON.stringify(bodies(svc, '/v1/').at(-1))).toContain('Second.')
    expect(readFileSync(join(at.tree, '.svc-harness-release'), 'utf8')).toContain('"r2"')
  })

  it('asks once more for a release that it heard of and could not get', async () => {
    const { svc, at, ran } = await serving('--follow', 'head')
    svc.releases.set('r2', [rules('Second.')])
    svc.broken = 1
    expect(await at.run('turn', '-p', 'x').end).toMatchObject({ code: 0 })
    await said(ran, 'r2 is mounted')
  })

  it('looks for a new release by itself, and a broken one changes nothing', async () => {
    const { svc, at, ran } = await serving('--follow', 'head', '--poll-interval', '1')
    svc.releases.set('broken', { 'native/graphs/main.json': '{}' })
    await said(ran, 'cannot be loaded')
    expect(await status(at)).toMatchObject({ release_id: 'r1' })
    expect(readFileSync(join(at.tree, 'native/AGENTS.md'), 'utf8')).toBe('First.\n')
    svc.releases.set('r3', [rules('Third.')])
    await said(ran, 'r3 is mounted')
    expect(existsSync(join(at.tree, 'native/tools/echo.ts'))).toBe(false)
  })

  it.each([
    ['unless it is told to follow', []],
    ['that is pinned', ['--follow', 'pinned']],
  ])('%s changes by mount alone, and refuses what is not there', async (_case, options) => {
    const { svc, at, ran } = await serving(...options, '--poll-interval', '1')
    svc.releases.set('r2', [rules('Second.')])
    await at.run('turn', '-p', 'x').end
    expect(await status(at)).toMatchObject({ release_id: 'r1' })
    ran.child.kill('SIGTERM')
    await ran.end
    await at.serve(svc, ...options)
    expect(await status(at)).toMatchObject({ release_id: 'r1' })
    expect(await at.run('mount', 'nothing').end).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown release') })
    expect(await at.run('mount', 'r2').end).toMatchObject({ code: 0, stdout: 'release r2 is mounted\n' })
    expect(await status(at)).toMatchObject({ release_id: 'r2' })
  })

  it('takes a provisional release only where a person asks, says that it is unproven, and goes back by a plain update', async () => {
    const { svc, at } = await serving('--poll-interval', '1')
    svc.releases.set('p1', [rules('Perhaps.'), echo])
    svc.unproven = 'p1'
    expect(await at.run('update').end).toMatchObject({ code: 0, stdout: 'release r1 is already current\n' })
    expect(await at.run('update', '--provisional').end).toMatchObject({ stdout: 'provisional release p1 (unproven) is mounted\n' })
    await at.run('turn', '-p', 'x').end
    expect(svc.heard.findLast(({ url }) => url.startsWith('/v1/'))?.headers).toMatchObject({ 'x-svc-tag-release': 'p1' })
    expect(await at.run('update').end).toMatchObject({ code: 0, stdout: 'release r1 is mounted\n' })
    const both = at.run('update', '--provisional', '--release', 'r1')
    expect(await both.end).toMatchObject({ code: 2, stderr: expect.stringContaining('exclude each other') })
  })

  it('goes along with provisional releases where it is told to, and back to the served one once they end', async () => {
    const { svc, at, ran } = await serving('--follow', 'provisional', '--poll-interval', '1')
    expect(await status(at)).toMatchObject({ release_id: 'r1', follow: 'provisional' })
    svc.releases.set('p1', [rules('Perhaps.')])
    svc.unproven = 'p1'
    await said(ran, 'provisional release p1 (unproven) is mounted')
    svc.releases.delete('p1')
    svc.unproven = null
    await said(ran, 'svc-native: release r1 is mounted')
  })

  it('pulls a provisional release into a folder that nobody serves', async () => {
    const [svc, at] = [await service(), home()]
    svc.releases.set('p1', [rules('Perhaps.')])
    svc.unproven = 'p1'
    const { stdout } = await at.run('update', '--provisional', '--scenario', 's', '--url', svc.url).end
    expect(stdout).toMatch(/^provisional release p1 \(unproven\) is in /)
  })

  it('begins with what is there while the service is away, and cannot begin with nothing', async () => {
    const { svc, at, ran: first } = await serving()
    first.child.kill('SIGKILL')
    await first.end
    svc.isDown = true
    const second = at.run('serve', '--scenario', 's', '--url', svc.url, '--follow', 'head')
    await said(second, 'going on with release r1')
    const other = home().run('serve', '--scenario', 's', '--url', svc.url)
    expect(await other.end).toMatchObject({ code: 1, stderr: expect.stringContaining('503') })
  })

  it('serves a folder alone, and takes over from one that was killed', async () => {
    const { svc, at, ran: first } = await serving()
    expect(await at.run('serve', '--scenario', 's', '--url', svc.url).end).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("another 'svc-native serve' runs"),
    })
    first.child.kill('SIGKILL')
    await first.end
    expect(existsSync(placesIn(at.tree).socket)).toBe(true)
    expect(await at.run('turn', '-p', 'x').end).toMatchObject({ code: 1, stderr: expect.stringContaining('no resident agent runs') })
    await at.serve(svc)
    expect(await at.run('turn', '-p', 'x', '--quiet').end).toMatchObject({ code: 0, stdout: 'ok\n' })
  })

  it('ends a turn that takes too long, and one whose caller is gone', async () => {
    const { svc, at } = await serving('--turn-timeout', '1')
    svc.lines.push(hang)
    expect(await at.run('turn', '-p', 'x', '--quiet').end).toMatchObject({
      code: 3,
      stderr: 'svc-native: turn-timeout: the turn took longer than 1 s\n',
    })
    svc.lines.push(hang)
    const left = at.run('turn', '-p', 'left')
    await vi.waitFor(() => expect(svc.heard.filter(({ url }) => url.startsWith('/v1/'))).toHaveLength(2), 20_000)
    left.child.kill('SIGKILL')
    expect(await at.run('turn', '-p', 'next', '--quiet').end).toMatchObject({ code: 0, stdout: 'ok\n' })
  })

  it('is not harmed by what is no request', async () => {
    const { at } = await serving()
    const { socket: path } = placesIn(at.tree)
    for (const [text, words] of [
      ['{\n', 'no JSON object'],
      ['{"type":"fly"}\n', 'turn or control'],
      ['{"type":"turn"}\n', 'needs a prompt'],
      ['{"type":"turn","session":"../x","prompt":"p","workdir":"/"}\n', 'a session is named by'],
    ] as const) {
      const socket = connect(path)
      socket.write(text)
      const [answer]: unknown[] = await once(socket, 'data')
      expect(String(answer)).toContain(words)
      socket.destroy()
    }
    expect(await status(at)).toMatchObject({ release_id: 'r1', turns: 0 })
  })

  it('in a folder with a long path is reached elsewhere, and by its owner alone', async () => {
    const long = join(folder(), 'x'.repeat(120))
    mkdirSync(long)
    const { socket } = placesIn(long)
    expect(Buffer.byteLength(socket)).toBeLessThan(100)
    const link = join(folder(), 'link')
    symlinkSync(long, link)
    expect(placesIn(link).socket).toBe(socket)
  })

  it('lets the agent look at itself, try a change and propose it, when it may', async () => {
    const { svc, at } = await serving('--self-tools')
    const mutations = [{ op: 'update', id: 'rules', options: { name: 'rules', config: { text: 'Changed.' } } }]
    svc.lines.push(
      { harness_inspect: {} },
      { harness_try: { mutations, prompt: 'how?' } },
      'tried',
      { harness_propose: { mutations, reason: 'better' } },
      'done',
    )
    expect(await at.run('turn', '-p', 'x', '--quiet').end).toMatchObject({ code: 0, stdout: 'done\n' })
    const asked = svc.heard.filter(({ url }) => url.startsWith('/v1/'))
    expect(asked.map(({ headers }) => headers['x-svc-tag-trial'])).toEqual([undefined, undefined, '1', undefined, undefined])
    expect(asked[2]?.body).toContain('Changed.')
    const last: { messages: { role: string; content: string }[] } = JSON.parse(asked[4]?.body ?? '')
    expect(last.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
      'rules (rules)\necho (native_tool)',
      'completed\n\ntried',
      'proposal p-1 waits for its evaluation',
    ])
    expect(bodies(svc, '/svc/harness/proposals')).toMatchObject([{ mutations, reason: 'better', release_id: 'r1' }])
    expect(readFileSync(join(at.tree, 'native/AGENTS.md'), 'utf8')).toBe('First.\n')
    await at.run('report', '--score', '1').end
    expect(bodies(svc, '/svc/report')).toMatchObject([{ score: 1, references: ['receipt-1', 'receipt-2', 'receipt-4', 'receipt-5'] }])
  })
})

describe('a folder that was served', () => {
  it('has changes asked for, with its release, and says what to do next', async () => {
    const { svc, at, ran } = await serving()
    ran.child.kill('SIGTERM')
    await ran.end
    const filed = await at.run('harness', 'be brief', '--wait').end
    expect([filed.code, filed.stdout]).toEqual([0, expect.stringContaining("published; 'svc-native update' installs it")])
    expect(bodies(svc, '/svc/train')).toMatchObject([{ text: 'be brief', release_id: 'r1' }])
    svc.releases.set('r2', [rules('Brief.')])
    expect(await at.run('update').end).toMatchObject({ code: 0, stdout: expect.stringContaining('release r2 is in') })
    expect(readFileSync(join(at.tree, 'native/AGENTS.md'), 'utf8')).toBe('Brief.\n')
    svc.state = 'rejected'
    expect((await at.run('harness', 'worse', '--wait', '--json').end).code).toBe(1)
  })

  it('that holds no release, or whose service is not known, says so', async () => {
    const at = home()
    expect(await at.run('harness', 'x').end).toMatchObject({ code: 1, stderr: expect.stringContaining('holds no release') })
    keepRelease(at.env['HOME'] ?? '', at.tree, '{"release_id":"r1","files":[]}')
    expect(await at.run('harness', 'x').end).toMatchObject({ code: 1, stderr: expect.stringContaining('--url and --scenario') })
    expect(await at.run('status').end).toMatchObject({ code: 1, stderr: expect.stringContaining('no resident agent runs') })
  })

  it('with a stranger behind its socket is not talked to for ever', async () => {
    const at = home()
    mkdirSync(join(at.tree, 'native'))
    const server = createServer((socket) => socket.end())
    await new Promise<void>((resolve) => server.listen(placesIn(at.tree).socket, resolve))
    expect(await at.run('status').end).toMatchObject({ code: 1, stderr: expect.stringContaining('ended before it answered') })
    server.close()
  })
})
