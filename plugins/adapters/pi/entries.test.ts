/** The entries that are shipped for a person's session in pi, run against a stand-in for pi and one for the loopback proxy. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startUpstream, type Upstream } from '../../../test/support/upstream.ts'

const POLL_MILLISECONDS = 5000

type Handler = (event: object, ctx: Session) => unknown
interface Session {
  readonly hasUI: boolean
  readonly ui: Readonly<Record<'notify' | 'setStatus' | 'select', (...words: readonly unknown[]) => unknown>>
}
interface Command {
  handler(words: string, ctx: Session): Promise<unknown>
}
type Answer = readonly [status: number, body: unknown]

/** A pi that remembers what was registered and what was said, in order. */
class StandIn {
  readonly handlers = new Map<string, Handler>()
  readonly commands = new Map<string, Command>()
  readonly said: string[] = []
  readonly ran: unknown[] = []
  choice: string | undefined
  exitCode = 0

  readonly api = {
    on: (event: string, handler: Handler): void => void this.handlers.set(event, handler),
    registerCommand: (name: string, command: Command): void => void this.commands.set(name, command),
    sendMessage: ({ content }: { content: string }): void => void this.said.push(`message: ${content}`),
    exec: async (...words: readonly unknown[]): Promise<object> => {
      this.ran.push(words.slice(0, 2))
      return { stdout: '', stderr: '', code: this.exitCode, killed: false }
    },
  }

  session(hasUI = true): Session {
    return {
      hasUI,
      ui: {
        notify: (text) => void this.said.push(String(text)),
        setStatus: (_, text) => void this.said.push(`status: ${String(text)}`),
        select: async (_, options) => (Array.isArray(options) ? options.find((option) => option === this.choice) : undefined),
      },
    }
  }

  emit(event: string, fields: object = {}, ctx = this.session()): void {
    this.handlers.get(event)?.(fields, ctx)
  }

  /** Waits for the event that matters instead of for time. */
  async hears(text: string): Promise<void> {
    await vi.waitFor(() => expect(this.said.join('\n')).toContain(text), { interval: 5 })
  }
}

describe('the shipped entries of pi', () => {
  let proxy: Upstream
  let pi: StandIn
  const asked: string[] = []
  const answers = new Map<string, Answer>()

  beforeEach(async () => {
    asked.length = 0
    answers.clear()
    pi = new StandIn()
    proxy = await startUpstream()
    proxy.answer(({ method, url, headers, body }, response) => {
      asked.push([method, url, headers.authorization, body.toString()].filter(Boolean).join(' '))
      const [status, sent] = answers.get(url) ?? [404, { error: { message: 'nothing here' } }]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(sent))
    })
    const session = { SVC_PROXY_URL: proxy.url, SVC_PROXY_KEY: 'k', SVC_RELEASE: 'r1', SVC_SESSION: 's1' }
    for (const [name, value] of Object.entries({ SVC_WRAPPER: '/bin/svc-pi', ...session, PI_OFFLINE: '' })) vi.stubEnv(name, value)
  })
  afterEach(async () => {
    pi.emit('session_shutdown')
    vi.unstubAllGlobals()
    vi.unstubAllEnvs()
    await proxy.close()
  })

  async function load(name: string): Promise<void> {
    const module: { default(api: StandIn['api']): void } = await import(new URL(`./entries/${name}.mjs`, import.meta.url).href)
    module.default(pi.api)
  }
  const type = async (command: string, words = '', ctx = pi.session()): Promise<unknown> => pi.commands.get(command)?.handler(words, ctx)

  describe.each(['svc-version-check', 'svc-requests'])('%s', (name) => {
    it.each([
      ['no wrapper', 'SVC_WRAPPER', ''],
      ['no proxy', 'SVC_PROXY_URL', ''],
      ['no network', 'PI_OFFLINE', '1'],
    ])('registers nothing where there is %s', async (_, variable, value) => {
      vi.stubEnv(variable, value)
      await load(name)
      expect([...pi.handlers.keys(), ...pi.commands.keys()]).toEqual([])
    })
  })

  describe('svc-version-check', () => {
    const releases = [
      { release_id: 'r1', result: 'published', pending: false },
      { release_id: 'r2', result: 'published', pending: false },
      { release_id: 'r3', result: 'pending', pending: true },
      { release_id: 'r2', result: 'rejected', pending: false },
    ]

    it('names the newest published release, and updates nothing unless it is chosen', async () => {
      answers.set('/svc/harness/releases', [200, { releases }])
      await load('svc-version-check')
      pi.emit('session_start', { reason: 'startup' })
      await pi.hears('(r2). To install it: svc-pi update')
      expect(asked).toEqual(['GET /svc/harness/releases Bearer k'])
      expect(pi.ran).toEqual([])
    })

    it.each([
      [0, 'Updated. Quit and start svc-pi again'],
      [3, 'Run svc-pi update in a terminal'],
    ])('runs the update that was chosen; when it ends with %i it says what to do next', async (code, next) => {
      answers.set('/svc/harness/releases', [200, { releases }])
      pi.choice = 'Update now'
      pi.exitCode = code
      await load('svc-version-check')
      pi.emit('session_start', { reason: 'startup' })
      await pi.hears(next)
      expect(pi.ran).toEqual([['/bin/svc-pi', ['update']]])
    })

    it('asks once: a session that is reloaded, or has no UI, asks nothing', async () => {
      await load('svc-version-check')
      pi.emit('session_start', { reason: 'reload' })
      pi.emit('session_start', { reason: 'startup' }, pi.session(false))
      answers.set('/svc/harness/releases', [200, { releases }])
      pi.emit('session_start', { reason: 'startup' })
      await pi.hears('(r2)')
      expect(asked).toHaveLength(1)
    })

    it('a new head in the headers of an answer is shown once, the installed one never', async () => {
      await load('svc-version-check')
      for (const release of ['r1', 'r4', 'r4', undefined, 'r5'])
        pi.emit('after_provider_response', { status: 200, headers: release === undefined ? {} : { 'x-svc-release-id': release } })
      expect(pi.said.map((text) => /\((.*?)\)/.exec(text)?.[1])).toEqual(['r4', 'r5'])
    })

    it.each([
      ['an error', [500, {}]],
      ['no catalog', [200, null]],
      ['rows that are none', [200, { releases: [null] }]],
    ] as const)('%s is no concern of the session', async (_, answer) => {
      answers.set('/svc/harness/releases', answer)
      await load('svc-version-check')
      pi.emit('session_start', { reason: 'startup' })
      await vi.waitFor(() => expect(asked).toHaveLength(1))
      pi.emit('after_provider_response', { headers: { 'x-svc-release-id': 'r9' } })
      expect(pi.said).toHaveLength(1)
    })
  })

  describe('svc-requests', () => {
    const progress = '/svc/harness/requests/q1/progress'
    /** What waits for its time; that time comes when the test says so. */
    const waiting: (() => void)[] = []
    const nextPoll = async (): Promise<void> => {
      await vi.waitFor(() => expect(waiting).toHaveLength(1), { interval: 1 })
      waiting.pop()?.()
    }

    beforeEach(async () => {
      waiting.length = 0
      const { setTimeout } = globalThis
      vi.stubGlobal('setTimeout', (work: () => void, milliseconds: number, ...rest: readonly unknown[]) => {
        if (milliseconds !== POLL_MILLISECONDS) return Reflect.apply(setTimeout, undefined, [work, milliseconds, ...rest])
        waiting.push(work)
        return { unref: () => {} }
      })
      answers.set('/svc/train', [200, { agent_record_id: 'q1' }])
      await load('svc-requests')
    })

    it('/svc sends the words, follows the request and shows its result once', async () => {
      answers.set(progress, [200, { settled: false, state: 'queued', meaning: 'No step\u001b[2J has taken it' }])
      await type('svc', '  be brief  ')
      await pi.hears('Accepted as request q1')
      await pi.hears('status: svc: No step [2J has taken it')
      answers.set(progress, [502, { error: { message: 'gone for a moment' } }])
      await nextPoll()
      await vi.waitFor(() => expect(asked).toHaveLength(3))
      answers.set(progress, [200, { settled: true, state: 'published', step: 4 }])
      await nextPoll()
      await pi.hears('Request q1 (v4) is published: run svc-pi update')
      expect(waiting).toEqual([])
      expect(asked[0]).toBe('POST /svc/train Bearer k {"text":"be brief","session":"s1","release_id":"r1"}')
      expect(pi.said.filter((text) => text.startsWith('Request'))).toHaveLength(1)
      expect(pi.said.at(-2)).toBe('status: undefined')
    })

    it.each([
      ['rejected', 'was not selected'],
      ['pending', 'ready for review'],
      ['failed', 'failed'],
      ['constructor', 'is settled'],
    ])('a request that ends as %s is shown in words', async (state, words) => {
      answers.set(progress, [200, { settled: true, state, step: 2 }])
      await type('svc', 'be brief')
      await pi.hears(words)
    })

    it('a request that the service no longer knows is not followed further', async () => {
      await type('svc', 'be brief')
      await pi.hears('Request q1 is gone')
    })

    it('a session that ends is followed by no poll', async () => {
      answers.set(progress, [200, { settled: false, state: 'queued', meaning: null }])
      await type('svc', 'be brief')
      await pi.hears('status: svc: queued')
      pi.emit('session_shutdown')
      await nextPoll()
      expect(asked.filter((line) => line.includes('/progress'))).toHaveLength(1)
    })

    it('a request that takes too long is let go, and where to look is said', async () => {
      answers.set(progress, [200, { settled: false, state: 'running', meaning: null }])
      await type('svc', 'be brief')
      for (let polls = 0; polls < 360; polls += 1) await nextPoll()
      await pi.hears('/svc-versions will list its result')
      expect(asked.filter((line) => line.includes('/progress'))).toHaveLength(360)
    })

    it('a refusal is shown with its reason, on one line', async () => {
      answers.set('/svc/train', [400, { error: { message: 'text carries a credential;\nremove it' } }])
      await type('svc', 'be brief')
      expect(pi.said).toEqual(['The service refused (400): text carries a credential; remove it'])
    })

    it('without words nothing is sent, and without the service it says so', async () => {
      await type('svc', '  ')
      expect(asked).toEqual([])
      await proxy.close()
      await type('svc', 'be brief')
      expect(pi.said.at(-1)).toContain('did not answer')
    })

    it('without a UI the answer is a message of the session, and nothing is followed', async () => {
      await type('svc', 'be brief', pi.session(false))
      expect(pi.said).toEqual(['message: Accepted as request q1.'])
      expect(asked).toHaveLength(1)
    })

    it('/svc-versions lists what there is, and marks what is installed and what is served', async () => {
      answers.set('/svc/harness/releases', [
        200,
        {
          releases: [
            { step: 0, release_id: 'r1', result: 'published', current: false },
            { step: 1, release_id: null, result: 'rejected', training_request: { text: 'be\n\u001b[31mrude' } },
            { step: 2, release_id: 'r2', result: 'published', current: true, training_request: { text: 'be brief' } },
          ],
        },
      ])
      await type('svc-versions')
      expect(pi.said.join('\n').split('\n')).toEqual([
        'v0    r1            published  installed',
        'v1    -             rejected                      be [31mrude',
        'v2    r2            published  served             be brief',
      ])
    })
  })
})
