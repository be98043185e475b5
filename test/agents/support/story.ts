/** The tests of one real agent, from its installation to a killed session; the same for each agent. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isObject, type Json } from '../../../src/contract/index.ts'
import { IS_SHORT } from '../../support/short.ts'
import { isTurn, say, thenHang, thenSay, type Call } from './model.ts'
import { unguarded } from './own-names.ts'
import { ANSWER, openAgentWorld, writeFiles, TOKEN, type AgentSpec, type AgentWorld } from './world.ts'

export interface Story extends AgentSpec {
  /** The name of its shell tool. */
  readonly shell: (command: string) => Call
  /** The arguments of one headless prompt. */
  readonly prompt: (text: string) => readonly string[]
  /** The arguments that call the command `mark-command` with `one two`. */
  readonly command: readonly string[]
  /** The arguments that call the skill `mark-skill`. */
  readonly skill: readonly string[]
  /** The file of the person's home that `--take memory` takes over, where it does. */
  readonly memory?: string
  /** Tests of this agent only. */
  readonly more?: (world: () => AgentWorld) => void
}

/** The command computes the text, so that it does not contain it. */
const TOOL = { command: "printf 'MARK_%s' TOOL_RESULT", result: 'MARK_TOOL_RESULT' }
/** A closed port. */
const DEAD_PROXY = 'http://127.0.0.1:9'
const PROXIES = { HTTP_PROXY: DEAD_PROXY, HTTPS_PROXY: DEAD_PROXY, http_proxy: DEAD_PROXY, https_proxy: DEAD_PROXY }

/** Each test continues where the last ended. */
export function tell(story: Story): void {
  describe(story.adapter, () => {
    let opened: AgentWorld | undefined
    beforeAll(async () => {
      opened = await openAgentWorld(story)
    })
    afterAll(() => opened?.close())
    const world = (): AgentWorld => {
      if (opened === undefined) throw new Error('the agent was not installed')
      return opened
    }
    tellFirstSession(story, world)
    tellCalls(story, world)
    tellNames(story, world)
    tellOwn(story, world)
    tellUpkeep(story, world)
    tellChange(story, world)
    tellKilled(story, world)
    story.more?.(world)
  })
}

function tellFirstSession({ shell, prompt, seed }: Story, world: () => AgentWorld): void {
  it('has its rule, its skill and its extension before the model, runs a tool and prints the answer, past the proxies of the machine', async () => {
    const asked = await world().session(prompt('Say something.'), thenSay(shell(TOOL.command), ANSWER), PROXIES)
    const [first, second, third] = asked.filter(isTurn).map(({ body }) => body.toString())
    const extensions = seed.filter(({ name }) => name === 'code_extension')
    for (const mark of ['MARK_RULE', 'MARK_SKILL_LISTED', ...extensions.map(() => 'MARK_EXTENSION')]) expect(first).toContain(mark)
    expect(first).not.toContain('MARK_SKILL_BODY')
    expect(second).toContain(TOOL.result)
    expect(third).toBeUndefined()
  })

  it('has every call recorded under its session and its release, and one report about exactly these', async () => {
    const calls = await world().records('inference')
    const release = await world().head()
    expect(calls.length).toBeGreaterThanOrEqual(2)
    for (const call of calls) expect(call).toMatchObject({ release, tags: { release, session: calls[0]?.tags['session'] } })
    expect(calls[0]?.tags['session']).toMatch(/^[0-9a-f-]{36}$/)
    expect(await world().run(['report', '--score', '1', '--feedback', 'good'])).toMatchObject({ code: 0 })
    const references = calls.map(({ id }) => id)
    expect(await world().records('report')).toMatchObject([{ score: 1, references, payload: { feedback: 'good' } }])
  })
}

function tellNames({ adapter, prompt }: Story, world: () => AgentWorld): void {
  it('has no tool whose name an entry could take unseen', async () => {
    const turn = (await world().session(prompt('Say it.'), say(ANSWER))).find(isTurn)
    const names = toolsIn(JSON.parse(turn?.body.toString() ?? 'null'))
    expect(names.length).toBeGreaterThan(2)
    expect(await unguarded(adapter, names)).toEqual([])
  })
}

/** A request in any format. */
function toolsIn(body: Json): readonly string[] {
  const tools = isObject(body) && Array.isArray(body['tools']) ? body['tools'].filter(isObject) : []
  return tools.map((tool) => (isObject(tool['function']) ? tool['function'] : tool)['name']).filter((name) => typeof name === 'string')
}

function tellOwn({ prompt, memory }: Story, world: () => AgentWorld): void {
  it.skipIf(memory === undefined)('has the memory of the person before the model when it is named, and not otherwise', async () => {
    writeFiles(world().home.folder, { [memory ?? '']: 'MARK_OWN' })
    const asked = async (args: readonly string[]) => (await world().session(args, say(ANSWER))).find(isTurn)?.body.toString()
    expect(await asked(prompt('Say it.'))).not.toContain('MARK_OWN')
    const taken = await asked(['--take', 'memory', ...prompt('Say it.')])
    for (const mark of ['MARK_RULE', 'MARK_OWN']) expect(taken).toContain(mark)
  })
}

/** In the short form codex alone, which starts soonest, calls a command and a skill, and is killed. */
const isLeftOut = (adapter: string): boolean => IS_SHORT && adapter !== 'codex'

function tellCalls({ adapter, command, skill }: Story, world: () => AgentWorld): void {
  it.skipIf(isLeftOut(adapter))('puts a command that is called before the model, with its words', async () => {
    const asked = (await world().session(command, say(ANSWER))).map(({ body }) => body.toString()).join('\n')
    for (const text of ['MARK_COMMAND', 'one two']) expect(asked).toContain(text)
  })

  it.skipIf(isLeftOut(adapter))('puts the whole of a skill that is called before the model', async () => {
    const asked = await world().session(skill, say(ANSWER))
    expect(asked.map(({ body }) => body.toString()).join('\n')).toContain('MARK_SKILL_BODY')
  })
}

function tellUpkeep({ adapter }: Story, world: () => AgentWorld): void {
  it('is in order, and says how it is used', async () => {
    expect(await world().run(['doctor'])).toMatchObject({ code: 0 })
    expect(await world().run(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining(`Usage: svc-${adapter}`) })
  })

  it('changes no file when it is installed again', async () => {
    const { home, installAgain } = world()
    const before = [filesIn(home.folder), filesIn(home.work)]
    expect(await installAgain()).toMatchObject({ code: 0, out: expect.stringContaining('is already current') })
    expect([filesIn(home.folder), filesIn(home.work)]).toEqual(before)
  })
}

/** Every file with its content and time, every link with its target. */
function filesIn(folder: string): Readonly<Record<string, string>> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  const named = found.map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
  return Object.fromEntries(named.map(({ entry, path }) => [path, entry.isSymbolicLink() ? readlinkSync(path) : stateOf(path)]))
}

const stateOf = (path: string): string => `${statSync(path).mtimeMs} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`

function tellChange({ shell, prompt }: Story, world: () => AgentWorld): void {
  it('is asked for a change, and after the update works by it, under the new release', async () => {
    const before = await world().head()
    // With the token of a person: what is asked for with the machine's own waits for one.
    const asked = await world().run(['harness', 'Always say MARK_TWO.', '--wait'], { SVC_TOKEN: TOKEN })
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining('published') })
    const release = await world().head()
    expect(release).not.toBe(before)
    expect(await world().run(['update'])).toMatchObject({ code: 0, out: expect.stringContaining(`installed release ${release}`) })
    const known = (await world().records('inference')).length
    const turns = await world().session(prompt('Say something else.'), thenSay(shell(TOOL.command), ANSWER))
    expect(turns.find(isTurn)?.body.toString()).toContain('MARK_TWO')
    const calls = (await world().records('inference')).slice(known)
    expect(calls.length).toBeGreaterThanOrEqual(2)
    for (const call of calls) expect(call).toMatchObject({ release, tags: { release } })
  })
}

function tellKilled({ adapter, shell, prompt }: Story, world: () => AgentWorld): void {
  it.skipIf(isLeftOut(adapter))('leaves the receipts of a session that is killed to be reported', async () => {
    const { here, start, run, records } = world()
    const known = (await records('inference')).length
    const hung = Promise.withResolvers<void>()
    here.upstream.answer(thenHang(shell(TOOL.command), hung.resolve))
    const running = start(prompt('Say a third thing.'))
    try {
      await Promise.race([hung.promise, running.ended.then(({ err }) => Promise.reject(new Error(`it ended by itself: ${err}`)))])
      const references = (await records('inference')).slice(known).map(({ id }) => id)
      expect(references.length).toBeGreaterThanOrEqual(1)
      await running.kill()
      expect(await run(['report', '--score', '0', '--json'])).toMatchObject({ code: 0, out: expect.stringContaining('"live":false') })
      expect((await records('report')).at(-1)).toMatchObject({ score: 0, references })
    } finally {
      running.killAll()
    }
  })
}
