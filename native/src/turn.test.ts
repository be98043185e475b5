/** One turn with a scripted model: what the tools answer, and what a hostile model cannot do. */
import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { isAlive } from '@svc-ai/client/shared'
import { add, entry, folder, graph, KEY, model, play, results, tool } from './testing/native.ts'
import { json } from '../../agent/src/testing/upstream.ts'
import { TurnEnded } from './ended.ts'

const THINK = { think: { kind: 'model' }, act: { kind: 'tools' }, done: { kind: 'end', reason: 'completed' } }
const failing = (status: number) => model((response) => json(response, status, { error: { message: `no ${KEY}` } }))

describe('a turn', () => {
  it('asks the model, does what it calls for, and ends with what it says', async () => {
    const end = await play([add, entry('rules', { text: 'Be brief.' })], await model({ add: { a: 2, b: 3 } }, '5'))
    expect(end).toMatchObject({ reason: 'completed', text: '5', code: null, message: null })
    expect(end.asked.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(end.asked[0]?.content).toMatch(/^Be brief\.\n\nWorking directory: /)
    expect(end.asked[3]?.content).toBe('5')
    expect(end.events.map(({ type }) => type)).toEqual(
      'session turn/start stage/enter step/start request/header assistant/message step/end stage/exit stage/enter tool/call tool/result stage/exit stage/enter step/start request/header assistant/message step/end stage/exit stage/enter turn/end'.split(
        ' ',
      ),
    )
    expect(end.events.map(({ seq }) => seq)).toEqual(end.events.map((_, index) => index))
  })

  it('lists the skills with what they are about and where they lie', async () => {
    const skills = [
      entry('skill', { name: 'bare', text: '# Count <aloud>\n\nOne.' }),
      entry('skill', { name: 'headed', text: '---\nname: headed\ndescription: >-\n  How tables\n  are written\n---\nUse pipes.' }),
    ]
    const { asked } = await play(skills, await model('ok'))
    const [system] = asked
    expect(system?.content).toMatch(
      /<name>bare<\/name>\n<description>Count &lt;aloud&gt;<\/description>\n<location>\/.*\/native\/skills\/bare\/SKILL\.md</,
    )
    expect(system?.content).toContain('<description>How tables are written</description>')
  })

  it.each([
    ['a tool that there is not', { nothing: {} }, 'UNKNOWN_TOOL: there is no tool "nothing" here; there are: add'],
    ['arguments that are no JSON', { add: '{"a": 1,' }, 'INVALID_ARGS: the arguments are no JSON object'],
    ['arguments that are no object', { add: '[1]' }, 'INVALID_ARGS: the arguments are no JSON object'],
    ['an argument that is missing', { add: { a: 1 } }, 'INVALID_ARGS: b is missing'],
    ['an argument of another type', { add: { a: 1, b: '2' } }, 'INVALID_ARGS: b must be of type number'],
  ])('answers a model that calls for %s, and goes on', async (_, call, result) => {
    const end = await play([add], await model(call, 'sorry'))
    expect(results(end)).toEqual([result])
    expect(end).toMatchObject({ reason: 'completed', text: 'sorry' })
  })

  it('that never stops calling ends when its steps are used up, with what was said last', async () => {
    const end = await play(
      [add, graph(THINK, ['think tool_calls act', 'think text done', 'act done think'], { max_steps: 3 })],
      await model({ nothing: {} }),
    )
    expect(end).toMatchObject({ reason: 'max-steps', code: null, message: expect.stringContaining('its steps (3)') })
    expect(end.questions).toBe(3)
  })

  it('with more calls in one answer than a turn may make ends for that', async () => {
    const calls = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`t${index}`, {}]))
    const end = await play([], await model(calls, 'done'))
    expect(end).toMatchObject({ reason: 'max-tool-calls' })
    expect(results(end)).toHaveLength(256)
  })

  it('is not confused by calls without a name or an id, or by an answer in parts', async () => {
    const odd = { choices: [{ message: { content: [{ type: 'text', text: 'a' }, 7], tool_calls: [{}, null, { function: { name: 3 } }] } }] }
    const end = await play([], await model((response) => json(response, 200, odd), 'done'))
    expect(end).toMatchObject({ reason: 'completed', text: 'done' })
    expect(results(end)).toEqual(Array.from({ length: 3 }, () => 'UNKNOWN_TOOL: there is no tool "" here; there are: none'))
  })

  it('keeps the beginning and the end of a long result, and the whole of it in a file', async () => {
    const long = tool('long', "export const run = (): string => 'a'.repeat(30000) + 'THE END'")
    const end = await play([long], await model({ long: {} }, 'ok'))
    const [result] = results(end)
    expect(result).toMatch(/^a{18000}\n\n\[10007 characters are left out here; the whole text is in \.svc\/tool-output\/.+\]\n\na+THE END$/)
    const [name = ''] = readdirSync(join(end.workdir, '.svc/tool-output'))
    expect(readFileSync(join(end.workdir, '.svc/tool-output', name), 'utf8')).toHaveLength(30_007)
  })

  it('logs no key, and shows none to the model or to the caller', async () => {
    const leak = tool('leak', `export const run = (): string => 'it is ${KEY}'`)
    const end = await play([leak], await model({ leak: {} }, `the key is ${KEY}`))
    expect(end.text).toBe('the key is [redacted credential]')
    expect(end.asked.at(-1)?.content).toBe('it is [redacted credential]')
    expect(end.logs).not.toContain(KEY)
  })
})

describe('a model that fails', () => {
  it('is asked four times when it may pass, and the turn ends with its words', async () => {
    const waits: number[] = []
    const end = await play([], await failing(503), { scene: { wait: async (seconds) => void waits.push(seconds) } })
    expect(end).toMatchObject({ reason: 'error', code: 'MODEL_ERROR', message: 'the model answered 503: no …' })
    expect([end.questions, waits]).toEqual([4, [1, 2, 4]])
  })

  it('is asked once when it will not pass', async () => {
    const end = await play([], await failing(400))
    expect([end.code, end.questions]).toEqual(['MODEL_ERROR', 1])
  })

  it('is waited for as long as it asks for, but no longer than ten seconds', async () => {
    const waits: number[] = []
    const busy = await model((response) => response.writeHead(429, { 'retry-after': '7200' }).end(), 'ok')
    const end = await play([], busy, { scene: { wait: async (seconds) => void waits.push(seconds) } })
    expect([end.text, waits]).toEqual(['ok', [10]])
  })

  it.each([
    [
      'never ends its answer',
      (response: ServerResponse) => void response.writeHead(200).write('{"choices"'),
      'gave no whole answer within 0.1 s',
    ],
    [
      'breaks off',
      (response: ServerResponse) => void response.writeHead(200, { 'content-length': '9' }).write('{', () => response.destroy()),
      'cannot be reached',
    ],
    ['answers no completion', (response: ServerResponse) => void response.end('<html>'), 'no chat completion'],
    [
      'answers without an end',
      (response: ServerResponse) => void response.end(Buffer.alloc(9 * 1024 * 1024, 32)),
      'longer than 8388608 bytes',
    ],
  ])('and %s ends the turn with that reason', async (_, answer, words) => {
    const end = await play([], await model(answer), { place: { answerSecondsMax: words.includes('0.1') ? 0.1 : 30 } })
    expect(end).toMatchObject({ reason: 'error', code: 'MODEL_ERROR', message: expect.stringContaining(words) })
  })
})

describe('a turn whose time is over', () => {
  it('ends at once, and so does the tool it waits for', async () => {
    const clock = new AbortController()
    const code = `import { writeFileSync } from 'node:fs'
      export const run = (_: unknown, dir: string) => { writeFileSync(dir + '/pid', String(process.pid)); for (;;); }`
    const served = await model({ hang: {} })
    const place = folder()
    const turn = play([tool('hang', code, { capabilities: ['write'] })], served, { scene: { signal: clock.signal, workdir: place } })
    await vi.waitFor(() => expect(readFileSync(join(place, 'pid'), 'utf8')).not.toBe(''), 20_000)
    clock.abort(new TurnEnded('turn-timeout', 'the turn took longer than 1 s'))
    expect(await turn).toMatchObject({ reason: 'turn-timeout', message: 'the turn took longer than 1 s' })
    const pid = Number(readFileSync(join(place, 'pid'), 'utf8'))
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 20_000)
  })
})
