/** `svc tasks mine` on the recorded sessions of a running service, and on a file of them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { historyIn, nodeTest } from '../../../plugins/miners/git/testing/history.ts'
import { named } from '../../../test/spec/support/helpers.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import type { JsonObject } from '../../contract/index.ts'
import { exchangeOf, type TalkTurn } from '../../sessions/testing/talks.ts'
import { execute, fakeSurroundings, typeCommand } from '../testing/surroundings.ts'

const here = sharedWorld()
const TEST = `import { test } from 'node:test'\nimport assert from 'node:assert'\nimport { add } from '../src/add.js'\ntest('add', () => assert.equal(add(1, 2), 3))\n`
const FIXING: readonly TalkTurn[] = [
  { person: 'The sum in src/add.js is wrong. Repair it, please.' },
  { call: 'read', input: { path: 'src/add.js' }, result: 'export const add = (a, b) => a - b' },
  { call: 'read', input: { path: 'package.json' }, result: '{"type":"module"}' },
  { call: 'read', input: { path: 'test/add.test.js' }, result: TEST },
  { call: 'edit', input: { path: 'src/add.js', oldText: 'a - b', newText: 'a + b' }, result: 'done' },
  { call: 'bash', input: { command: 'node --test' }, result: '# pass 1\n# fail 0' },
  { agent: 'It adds now.' },
]
/** Its tests did not fail before: nothing was wrong. */
const IDLE = FIXING.map((said) =>
  'person' in said
    ? { person: 'Make the code of the sum nicer to read for all of us.' }
    : 'call' in said && said.result?.includes('a - b') === true
      ? { ...said, result: 'export const add = (a, b) => 0 + a + b // a - b' }
      : said,
)

const keep = (id: string, payload: JsonObject): Promise<unknown> =>
  here.post('/svc/records', { agent_record_id: id, request_type: 'inference', payload }, named('support'))

beforeAll(async () => {
  await keep('fixing', exchangeOf(FIXING, 'messages', { session: 'one' }))
  await keep('idle', exchangeOf(IDLE, 'messages', { session: 'two' }))
  await keep('roman', exchangeOf([{ person: 'Write the year 1994 as a roman numeral.' }, { agent: 'MIM' }], 'responses'))
  await here.post('/svc/report', { score: 0, feedback: 'The right answer is MCMXCIV.', references: ['roman'] }, named('support'))
  await keep('poem', exchangeOf([{ person: 'Write a short poem on rain, please.' }, { agent: 'Rain' }, { person: 'no, longer' }], 'gemini'))
})

const type = (...args: readonly string[]) => typeCommand(here.address, args)
const mine = (folder: string, ...args: readonly string[]) => type('tasks', 'mine', ...args, '-o', folder, '--executor', 'local', '--json')

describe('svc tasks mine on sessions', () => {
  test('keeps what holds, graded by tests, an answer or a judge, and adds nothing the second time', async () => {
    const folder = join(temporaryFolder(), 'tasks')
    const first = await mine(folder, '--scenario', 'support')
    expect([first.exit, first.err]).toEqual([0, []])
    const result: JsonObject = JSON.parse(first.out)
    expect(result).toMatchObject({ kept: 0, passedOver: [{ reason: 'the workspace passes before anything is done' }] })
    const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
    expect(names.toSorted().map((name) => name.replace(/-[0-9a-f]{10}$/, ''))).toEqual([
      'the-sum-in-src-add-js',
      'write-a-short-poem-on-rain',
      'write-the-year-1994-as-a',
    ])
    expect(readdirSync(folder).filter((name) => name.startsWith('.unfinished'))).toEqual([])
    const [fixed = '', poem = '', roman = ''] = names.toSorted().map((name) => join(folder, name))
    expect(existsSync(join(fixed, 'verify/run.sh'))).toBe(true)
    expect(readFileSync(join(fixed, 'reference/src/add.js'), 'utf8')).toContain('a + b')
    expect(readFileSync(join(poem, 'task.yaml'), 'utf8')).toContain('> no, longer')
    expect(readFileSync(join(roman, 'reference.md'), 'utf8')).toBe('MCMXCIV')
    expect(JSON.parse((await mine(folder, '--scenario', 'support')).out)).toMatchObject({ added: [], kept: 3 })
    expect((await type('tasks', 'list', folder)).out).toMatch(/write-a-short-poem\S* .* not tried: a model judges it/)
    const checked = await type('tasks', 'check', fixed, poem, roman, '--repeats', '2', '--executor', 'local')
    expect([checked.exit, checked.out.split('\n').map((line) => line.replace(/^[^:]*: /, ''))]).toEqual([
      0,
      ['holds', 'not tried: a model judges it, and there is none here', 'holds', expect.stringContaining('the gate has 2 tasks')],
    ])
    expect((await type('tasks', 'show', roman)).out).toContain('reference  answer: MCMXCIV')
  })

  test('reads only the newest records where it is told to, or a file of them', async () => {
    const folder = join(temporaryFolder(), 'tasks')
    expect(JSON.parse((await mine(folder, '--scenario', 'support', '--records', '1')).out)).toMatchObject({
      added: [expect.stringMatching(/^write-a-short-poem/)],
    })
    const file = join(temporaryFolder(), 'records.jsonl')
    await type('records', 'support', '--export', file)
    expect(JSON.parse((await mine(folder, file, '--miner', 'sessions')).out)).toMatchObject({
      kept: 1,
      added: [{}, {}].map(() => expect.any(String)),
    })
  })

  test('refuses a file beside a scenario, a scenario that is not there, and no number of records', async () => {
    const folder = join(temporaryFolder(), 'tasks')
    expect(await mine(folder, 'file', '--scenario', 'support')).toMatchObject({ exit: 2, err: [expect.stringContaining('and not both')] })
    expect(await mine(folder, '--scenario', 'other')).toMatchObject({
      exit: 1,
      err: [expect.stringContaining('no scenario has that name')],
    })
    expect(await mine(folder, '--scenario', 'support', '--records', '0')).toMatchObject({ exit: 2 })
  })
})

const improve = (folder: string, url: string, ...args: readonly string[]) =>
  execute(
    ['improve', folder, '--agent', 'native', '--evolution.executor', 'local', '--json', ...args],
    fakeSurroundings({}, { SVC_URL: url, XDG_DATA_HOME: temporaryFolder(), SVC_UPSTREAM_URL: here.upstream.url, SVC_UPSTREAM_MODEL: 'm' }),
  )
const events = (out: string) => out.split('\n').map((line): JsonObject => JSON.parse(line))

describe('svc improve on sessions', () => {
  test('takes tasks from the history too, and none that only a model can judge', async () => {
    const history = historyIn(temporaryFolder())
    history.commit('root', { 'package.json': '{"type":"module"}', 'src/sum.js': 'export const sum = (a, b) => a - b\n' })
    history.commit('Let sum add its two numbers', {
      'src/sum.js': 'export const sum = (a, b) => a + b\n',
      'test/sum.test.js': nodeTest('../src/sum.js', 'sum', 'assert.equal(sum(1, 2), 3)'),
    })
    const { out, err } = await improve(history.folder, here.address, '--scenario', 'support')
    expect(err.at(-1)).toContain('no change could be published')
    const [, mined, tasks] = events(out)
    expect(mined).toMatchObject({ event: 'mined', added: 3, kept: 0, passed_over: 1 })
    expect(JSON.stringify(tasks)).toMatch(/let-sum-add.*the-sum-in-src.*write-the-year/)
    expect(JSON.stringify(tasks)).not.toContain('poem')
  })

  test('needs no history, and says what to do where there is no such scenario or no service', async () => {
    const folder = temporaryFolder()
    expect(events((await improve(folder, here.address, '--scenario', 'support')).out)[1]).toMatchObject({ event: 'mined', added: 2 })
    expect(await improve(folder, here.address, '--scenario', 'other')).toMatchObject({
      exit: 1,
      err: [expect.any(String), expect.stringMatching(/no scenario has that name.*svc improve --scenario support/)],
    })
    expect(await improve(folder, 'http://127.0.0.1:9', '--scenario', 'support')).toMatchObject({
      exit: 2,
      err: [expect.any(String), expect.stringContaining('Start it with: svc serve')],
    })
    expect(await improve(folder, here.address, '--scenario', 'support', '--tasks-dir', '.')).toMatchObject({ exit: 2 })
  })
})
