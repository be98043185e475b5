/** Every guide can be followed from its first line to its last, in an empty folder, with nothing running yet. */
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { IS_SHORT } from '../support/short.ts'
import { freePort } from '../support/listen.ts'
import { followDocument, type Session } from './blocks.ts'

const MINUTES = 60_000
/** A guide that needs several servers counts on from `PORT`. */
const PORTS_OF_A_GUIDE = 10
const root = join(import.meta.dirname, '..', '..')

async function follow(page: string): Promise<Session> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-guide-'))
  try {
    return await followDocument(`docs/guides/${page}`, folder, { PORT: String(await freePort(PORTS_OF_A_GUIDE)) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const SAYS: Readonly<Record<string, readonly RegExp[]>> = {
  'serve-and-record.md': [/"object":"chat\.completion"/, /"request_type":"report"/, /What is 17 \+ 25\?/, /checked, none damaged/],
  'evolve-a-coding-agent.md': [/train.*published/, /^MCD$/m],
  'improve.md': [/improved: 1 round/, /^\+.*numeral/im, /this run has ended/],
  'ask-for-a-change.md': [/"settled":true/, /train/],
  'many-machines.md': [/"object":"chat\.completion"/, /1 scenario copied and compared: both sides are the same/],
  'other-formats.md': [
    /"type":"message"/,
    /"translation":\{"from":"messages","to":"chat","left_out":\["metadata"\]\}/,
    /tools\.0\.type: cannot be translated/,
  ],
  'several-providers.md': [/"id":"best"/, /this is large-1/, /this is other-1/, /"upstreams":\["spare"\]/],
  'export.md': [/"sha256"/],
  'workers.md': [/"name":"machine-1\/first"/],
  'sign-in.md': [/openid +openid-client/, /warning +sign-in +nobody can sign in/],
  'review-and-roll-back.md': [/waits for review/, /promote/, /rollback/],
}

/**
 * Left out of the short form: the quickstart improves an agent, rolls back and serves again; other tests improve a repository, ask for a
 * change over HTTP, and review what waits in the console and by the command.
 */
const PLAYED_ELSEWHERE: ReadonlySet<string> = new Set([
  'ask-for-a-change.md',
  'evolve-a-coding-agent.md',
  'improve.md',
  'review-and-roll-back.md',
])

describe('the guides', () => {
  it('are all followed here', () => {
    const pages = globSync('docs/guides/*.md', { cwd: root }).map((page) => page.slice('docs/guides/'.length))
    expect(pages.filter((page) => page !== 'README.md').toSorted()).toEqual(Object.keys(SAYS).toSorted())
  })

  it.each(Object.keys(SAYS))('%s says how svc comes onto the path before it uses it', (page) => {
    const [before = ''] = readFileSync(join(root, 'docs/guides', page), 'utf8').split('```sh', 1)
    expect(before).toContain('(../operations.md#svc-on-the-path)')
  })

  // Concurrent, since most of a guide is waiting.
  it.concurrent.each(Object.entries(SAYS).filter(([page]) => !IS_SHORT || !PLAYED_ELSEWHERE.has(page)))(
    '%s does what it says',
    { timeout: 10 * MINUTES },
    async (page, patterns) => {
      const printed = (await follow(page)).blocks.join('\n')
      for (const pattern of patterns) expect(printed).toMatch(pattern)
    },
  )
})
