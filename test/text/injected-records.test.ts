/** Hostile text in what agents, tools and clients send: stored as it came, read back without harm in the terminal, in data and in the log. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hiddenCharacters } from '@svc-ai/client/hidden'
import { beforeAll, describe, expect, it } from 'vitest'
import { execute, fakeSurroundings, typeCommand } from '../../src/cli/testing/surroundings.ts'
import { logLine } from '../../src/http/log/log.ts'
import { named } from '../spec/support/helpers.ts'
import { temporaryFolder } from '../support/folder.ts'
import { sharedWorld } from '../support/world.ts'
import { ATTACKS } from './hidden-attacks.ts'

/** What readers other than a terminal would obey. */
const OTHERS: Readonly<Record<string, string>> = {
  'formula: a command': `=cmd|' /C calc'!A0`,
  'formula: with a plus': '+HYPERLINK("http://evil.invalid","x")',
  'formula: with an at sign': '@SUM(1+1)*cmd|x!A0',
  'formula: after a tab': '\t=1+1',
  'lines: a forged line of the log': 'x\n{"time":"2024-01-01T00:00:00.000Z","level":"info","event":"promoted"}',
  'lines: a forged row of the terminal': 'x\n  1  old-1  inference  ok',
  'lines: a forged line of JSON': '"}\n{"agent_record_id":"forged"}',
  'markup: a script': '</script><script>alert(1)</script>',
  'markup: an image': '<img src=x onerror=alert(1)>',
  'YAML: a document of its own': '---\n!!js/function "x"\n...',
  'YAML: an alias': '*anchor &anchor <<: [a]',
  'JSON: names of every object': '{"__proto__":{"admin":true}}',
}
/** Halves of pairs cannot be sent as UTF-8. */
const TEXTS = Object.entries({ ...ATTACKS, ...OTHERS }).filter(([, text]) => text.isWellFormed())

const here = sharedWorld()
beforeAll(async () => {
  for (const [at, [, text]] of TEXTS.entries()) {
    const payload = {
      model: text,
      messages: [
        { role: 'user', content: text },
        { role: 'tool', tool_call_id: text, content: text },
      ],
      response: {
        model: text,
        choices: [{ message: { role: 'assistant', content: text, tool_calls: [{ id: text, function: { name: text, arguments: text } }] } }],
      },
      [text]: text,
    }
    await here.post('/svc/records', { agent_record_id: `old-${at}`, request_type: 'inference', payload }, named('support'))
    await here.post('/svc/report', { score: 0, feedback: text, references: [`old-${at}`] }, named('support'))
  }
})

const type = (...args: readonly string[]) => typeCommand(here.address, args)
/** Every line of the output is the command's own. */
function expectHarmless(out: string): void {
  for (const line of out.split('\n')) {
    expect(hiddenCharacters(line)).toEqual([])
    expect(line).not.toMatch(/\p{Cc}/u)
  }
}

describe('a stored record', () => {
  it.each(TEXTS.map(([name], at) => [name, `old-${at}`] as const))('%s', async (name, id) => {
    const shown = await type('records', 'support', '--id', id)
    expect(shown.exit).toBe(0)
    expectHarmless(shown.out)
    const printed = (await type('records', 'support', '--id', id, '--json')).out
    const text = TEXTS.find(([each]) => each === name)?.[1] ?? ''
    expect(JSON.parse(printed)).toMatchObject({
      agent_record_id: id,
      payload: { model: text, messages: [{ content: text }, { content: text }] },
    })
    expect(printed.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
  })
})

describe('all of them together', () => {
  it.each([
    ['records', 'support', '-n', '500'],
    ['records', 'support', '--type', 'report', '-n', '500'],
    ['status'],
    ['releases', 'support'],
  ])('%s %s: one line for each row, and JSON that is JSON', async (...args) => {
    const { exit, out } = await type(...args)
    expect(exit).toBe(0)
    expectHarmless(out)
    expect(typeof JSON.parse((await type(...args, '--json')).out)).toBe('object')
  })

  it('an export is one line of JSON for each record, and no line begins a formula', async () => {
    const file = join(temporaryFolder(), 'all.jsonl')
    expect(await type('records', 'support', '--export', file)).toMatchObject({ exit: 0 })
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(2 * TEXTS.length)
    for (const line of lines) {
      expect(line.startsWith('{"')).toBe(true)
      expect(JSON.parse(line)).toHaveProperty('agent_record_id')
    }
  })
})

describe('a name that is typed', () => {
  it.each(TEXTS)('%s: is quoted without harm', async (_, text) => {
    const { err } = await execute(['releases', text], fakeSurroundings({}, { SVC_URL: here.address }))
    for (const line of err) expectHarmless(line.replaceAll(/[\n\t]/g, ' '))
    for (const line of (await execute([`--${text}`])).err) expectHarmless(line.replaceAll(/[\n\t]/g, ' '))
  })
})

it.each(TEXTS)('a line of the log with %s is one line that a terminal does not obey', (_, text) => {
  const line = logLine({ level: 'info', event: 'request', scenario: text })
  expect(JSON.parse(line)).toMatchObject({ scenario: text })
  expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u{e0000}-\u{e0fff}]/u)
})
