/** Checks of a change before the gate, and what a proposer sees of the gate. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { playOf } from '../../conformance/index.ts'
import native from '../../plugins/adapters/native/index.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { testServer } from '../../test/support/server.ts'
import { isRefusal, type Evaluator, type Executor, type Files, type Mutation, type Parts } from '../contract/index.ts'
import { contentOf } from '../harness/index.ts'
import { loadMethod, type EvolutionSettings } from './method.ts'
import {
  ALWAYS,
  episodeOf,
  GATE,
  OWN_FOLDER,
  proposalFor,
  REQUEST,
  RULE,
  SETTINGS,
  stepOf,
  taskNamed,
  testBench,
  WORSE,
  type Tools,
} from './testing/bench.ts'

describe('a rejected change', () => {
  it('is not judged again on the same tree, and may be on another', async () => {
    const offers = [WORSE, WORSE, RULE, WORSE]
    const bench = await testBench({ propose: () => ({ mutations: offers.splice(0, 1) }) })
    expect(await bench.step()).toMatchObject({ kind: 'reject' })
    expect(await bench.step()).toMatchObject({ kind: 'skip', reason: expect.stringContaining('rejected before') })
    expect(await bench.step()).toMatchObject({ kind: 'publish' })
    expect(await bench.step()).toMatchObject({ kind: 'reject' })
  })

  it('for want of episodes is judged again: what is known by then is free', async () => {
    const selection = { decide: () => ({ selected: false, reason: 'too few', isOpen: true }) }
    const bench = await testBench({ propose: () => ({ mutations: [WORSE] }), selection })
    await bench.step()
    expect(await bench.step()).toMatchObject({ kind: 'reject', metrics: { episodes_used: 0 } })
  })

  it('may be asked for by a person', async () => {
    const bench = await testBench({ propose: () => ({ mutations: [WORSE] }) })
    await bench.step()
    expect(await bench.step({ request: REQUEST })).toMatchObject({ kind: 'reject' })
  })

  it('reports nothing to its proposer of how far it got', async () => {
    const reasons: string[] = []
    const bench = await testBench({
      propose: ({ rejected }) => {
        reasons.push(...rejected.map(({ reason }) => reason))
        return { mutations: [WORSE] }
      },
    })
    await bench.step()
    await bench.step()
    expect(reasons).toEqual(['it was played, and is no better than what is served'])
  })
})

describe('a task of role health', () => {
  it('is passed by every published change, whatever selection decides, for traffic and for a request', async () => {
    const tasks = [...GATE, taskNamed('healthy', { role: 'health' })]
    const evaluator = { score: async ({ role }: { readonly role: string }) => (role === 'health' ? 0 : 1) }
    const bench = await testBench({ tasks, evaluator, selection: ALWAYS })
    const refused = { kind: 'reject', metrics: { selected: false, selection: { reason: 'it fails the health task healthy' } } }
    expect(await bench.step()).toMatchObject(refused)
    expect(await bench.step({ request: REQUEST })).toMatchObject(refused)
  })
})

describe('the memory and notes of a proposer', () => {
  it('are kept up to the size that a row may hold', async () => {
    let memory: Record<string, string> = { small: 'kept' }
    const bench = await testBench({ propose: () => ({ mutations: [], memory, notes: { memory } }) })
    expect(await bench.step()).toMatchObject({ state: { memory: { small: 'kept' } }, metrics: { proposal_notes: { memory } } })
    memory = { large: 'x'.repeat(2 * 1024 * 1024) }
    expect(await bench.step()).toMatchObject({
      state: { memory: { small: 'kept' } },
      metrics: { proposal_notes: { dropped: expect.any(String) } },
    })
  })
})

const runsMore: Evaluator = {
  async score(_task, _episode, { executor, signal }) {
    await executor.run(playOf('', { hides: ['/srv/more'] }), signal)
    return 1
  },
}

it('no episode sees the deployment’s folders, nor does what an evaluator runs on what the agent left', async () => {
  const hidden: unknown[] = []
  const run: Executor['run'] = async (play) => {
    hidden.push(play.hides)
    const episode = episodeOf('')
    await play.inspect?.('/root/workspace', episode)
    return episode
  }
  await stepOf({ run, evaluator: runsMore, tasks: GATE.slice(0, 1) })
  expect(hidden.slice(0, 2)).toEqual([[OWN_FOLDER], [OWN_FOLDER, '/srv/more']])
})

let problem: string | null = 'no bubblewrap'
const run = (): Promise<never> => Promise.reject(new Error('never'))
const PLUGINS = {
  sandbox: { contains: true, check: async () => problem, make: () => ({ run }) },
  local: { make: () => ({ run }) },
  evaluator: { score: async () => 1 },
  proposer: { acceptsRequests: true, propose: async () => null },
  selection: { decide: () => ({ selected: false, reason: 'x' }) },
}

describe('without a sandbox [trust.sandbox]', () => {
  const warned: string[] = []
  const parts: Parts = {
    plugin: (kind, name) => Promise.resolve(Reflect.get({ ...PLUGINS }, kind === 'executor' ? name : kind)),
    baseDirectory: '.',
    warn: (message) => void warned.push(message),
  }
  const load = (settings: Partial<EvolutionSettings>) => loadMethod({ ...SETTINGS, ...settings }, {}, parts)
  const refusalOf = async (settings: Partial<EvolutionSettings>): Promise<unknown> => {
    const refusal: unknown = await load(settings).catch((error: unknown) => error)
    return isRefusal(refusal) ? refusal.message : refusal
  }

  it('a service that names the sandbox gets no other executor', async () => {
    expect(await refusalOf({ executor: 'sandbox' })).toBe('evolution.executor: sandbox: no episode runs here: no bubblewrap')
  })

  it('a service that names none starts, says what to install, and plays nothing', async () => {
    const method = await load({ executor: null, promote_failures: true })
    expect(warned.at(-1)).toMatch(/^no episode runs here: no bubblewrap; or set evolution\.executor: local/)
    expect(await method.unplayable()).toBe('no episode runs here: no bubblewrap')
    await expect(method.executor.run(playOf(''), new AbortController().signal)).rejects.toMatchObject({ code: 'no_sandbox' })
  })

  it('a service that names none plays once the sandbox works, without a restart', async () => {
    const method = await load({ executor: null })
    problem = null
    expect(await method.unplayable()).toBeNull()
    await expect(method.executor.run(playOf(''), new AbortController().signal)).rejects.toThrow('never')
    problem = 'no bubblewrap'
  })

  it('a step pays for no proposal, and is tried again', async () => {
    let asked = 0
    const bench = await testBench({ propose: () => ({ mutations: [((asked += 1), RULE)] }), unplayable: 'no bubblewrap' })
    expect(await bench.step()).toMatchObject({ kind: 'fail', retry: true, error: 'no bubblewrap' })
    expect(asked).toBe(0)
  })

  it('a service that names local plays, and still runs no code of models', async () => {
    const method = await load({ executor: 'local', promote_failures: true })
    expect([method.codeProblem, await method.unplayable()]).toEqual([expect.stringContaining('local'), null])
  })
})

/** A model that says the magic word when it is told to. */
const echo = (asked: unknown[]) =>
  testServer(async (request, response) => {
    const body = await text(request)
    asked.push(JSON.parse(body))
    const content = body.includes('magic') ? 'magic' : 'nothing'
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }))
  })

/** Code that would leave a file, as every kind of entry that has code. */
function codeEntries(left: string): readonly Mutation[] {
  const code = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(left)}, '')\n`
  const tool = { name: 'leave', description: 'x', code: `${code}export default () => ''\n` }
  return [
    { op: 'create', id: 'tool', options: { name: 'native_tool', config: tool } },
    { op: 'create', id: 'hook', options: { name: 'native_hook', config: { name: 'leave', event: 'pre_step', code: tool.code } } },
    {
      op: 'create',
      id: 'loop',
      options: { name: 'native_loop', config: { name: 'leave', code: `${code}export async function runTurn(agent) {}\n` } },
    },
    {
      op: 'create',
      id: 'skill',
      options: { name: 'skill', config: { name: 'leave', text: '---\nname: leave\ndescription: x\n---\nRun what follows.' } },
    },
  ]
}

describe('with the executor none [trust.sandbox]', () => {
  const never = { run: () => Promise.reject(new Error('an executor ran')) }
  const bench = async (tools: Tools) => testBench({ adapter: native.plugin, settings: { executor: 'none' }, ...never, ...tools })

  it('an agent of rules alone is one question to the model, with its rules and the task', async () => {
    const asked: unknown[] = []
    const made = await bench({ modelUrl: await echo(asked) })
    expect(await made.step()).toMatchObject({ kind: 'publish' })
    expect(asked).toHaveLength(2 * GATE.length)
    const messages = [
      { role: 'system', content: expect.stringMatching(/^Be brief\.\s*$/) },
      { role: 'user', content: GATE[0]?.prompt },
    ]
    expect(asked).toContainEqual(expect.objectContaining({ messages }))
  })

  it('no change brings anything but rules, whoever proposes it', async () => {
    const left = join(temporaryFolder(), 'left')
    const asked: unknown[] = []
    const modelUrl = await echo(asked)
    for (const mutation of codeEntries(left)) {
      const made = await bench({ modelUrl, propose: () => ({ mutations: [mutation] }) })
      const refused = { kind: 'skip', reason: expect.stringContaining('rules alone') }
      expect(await made.step(), JSON.stringify(mutation)).toMatchObject(refused)
      expect(await made.step({ request: REQUEST })).toMatchObject(refused)
      await made.inbox.offer(proposalFor(mutation), 'head')
      expect(await made.step()).toMatchObject(refused)
    }
    expect([asked, existsSync(left)]).toEqual([[], false])
  })

  it('what is served and holds more than rules is not played, and neither is a task with files', async () => {
    const left = join(temporaryFolder(), 'left')
    const asked: unknown[] = []
    const modelUrl = await echo(asked)
    const [tool] = codeEntries(left)
    const entries = [
      { id: 'base', name: 'rules', config: { text: 'Be brief.' } },
      { id: 'tool', name: 'native_tool', config: tool?.op === 'create' ? tool.options.config : {} },
    ]
    const served: Files = contentOf(native.plugin, entries)
    expect(await (await bench({ modelUrl })).step({ served })).toMatchObject({
      kind: 'skip',
      reason: expect.stringContaining('rules alone'),
    })
    const tasks = GATE.map((task) => ({ ...task, files: { 'a.txt': 'x' } }))
    const withFiles = await (await bench({ modelUrl, tasks })).step()
    expect(withFiles).toMatchObject({ kind: 'fail', retry: true, error: expect.stringContaining('without tasks that have files') })
    expect([asked, existsSync(left)]).toEqual([[], false])
  })

  it('no command runs, neither of an evaluator nor of another agent', async () => {
    const parts: Parts = {
      plugin: (kind) => Promise.resolve(Reflect.get({ ...PLUGINS }, kind)),
      baseDirectory: '.',
      warn: () => undefined,
    }
    const method = await loadMethod({ ...SETTINGS, executor: 'none' }, {}, parts)
    expect([method.runsPrograms, method.contained, await method.unplayable()]).toEqual([false, false, null])
    await expect(method.executor.run(playOf(''), new AbortController().signal)).rejects.toMatchObject({ code: 'no_sandbox' })
    expect(await stepOf({ settings: { executor: 'none' }, ...never })).toMatchObject({
      kind: 'skip',
      reason: expect.stringContaining('native'),
    })
  })
})
