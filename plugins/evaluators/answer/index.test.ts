/** The evaluator answer, on what every agent leaves of an episode, and on agents that try to give two answers. */
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bareScene, evaluatorConformance } from '../../../conformance/index.ts'
import type { Episode, EpisodeEnd, JsonObject, Task } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { leave } from '../../adapters/testing/adapter.ts'
import claude from '../../adapters/claude/index.ts'
import codex from '../../adapters/codex/index.ts'
import opencode from '../../adapters/opencode/index.ts'
import answer from './index.ts'

const task: Task = { name: 'sum', prompt: 'What is 40 + 2?', role: 'gate', data: { answer: '42' } }
const hello: Task = { ...task, data: { answer: 'hello world' } }
const printed = (stdout: string): Episode => ({ exitCode: 0, stdout, stderr: '', trajectory: [] })
const logged = (...trajectory: JsonObject[]): Episode => ({ ...printed(''), trajectory })
const said = (text: string, more: JsonObject = {}): JsonObject => ({ role: 'assistant', content: text, ...more })
const scene = bareScene()
const score = (of: Task, episode: Episode): Promise<number | null> => answer.plugin.score(of, episode, scene)
const fixture = (path: string): string => readFileSync(join(import.meta.dirname, '../../adapters', path), 'utf8')

describe('the evaluator answer', () => {
  evaluatorConformance({ describe, it, evaluator: answer.plugin, task, good: printed('thinking\n42\n'), bad: printed('42\nor so') })

  it.each<readonly [string, number]>([
    ['42', 1],
    ['It is easy.\n\n  42  \n\n', 1],
    ['42\r\n', 1],
    ['The answer is 42', 0],
    ['42.', 0],
    ['', 0],
  ])('goes by the last line that is not blank: %j is %d', async (stdout, points) => {
    expect(await score(task, printed(stdout))).toBe(points)
  })

  it('takes any one of several answers', async () => {
    const either = { ...task, data: { answer: ['42', ' forty-two '] } }
    expect(await score(either, printed('forty-two'))).toBe(1)
    expect(await score(either, printed('42\nforty-two or so'))).toBe(0)
  })

  it('does not mind how the command exited', async () => {
    expect(await score(task, { ...printed('42'), exitCode: 1 })).toBe(1)
  })

  it.each<readonly [EpisodeEnd, number | null]>([
    ['time', 0],
    ['output', 0],
    ['start', null],
  ])('an episode that ended by %s gets %j, whatever it said', async (ended, points) => {
    expect(await score(task, { ...printed('42'), ended })).toBe(points)
  })

  it('refuses a task that names no answer', async () => {
    for (const data of [{}, { answer: '  ' }, { answer: [] }, { answer: ['42', 7] }])
      await expect(score({ ...task, data }, printed('42'))).rejects.toMatchObject({ code: 'answer_missing' })
  })
})

describe('what the agent said last', () => {
  it.each<readonly [string, JsonObject]>([
    ['pi', { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: 'so\n42' }] } }],
    ['hermes', { type: 'message', role: 'assistant', content: '42' }],
    ['terminus', { type: 'step', source: 'agent', message: '42' }],
    ['native', { type: 'assistant/message', seq: 3, time: 5, data: { text: '42', calls: [] } }],
    ['native with parts', { type: 'assistant/message', seq: 3, time: 5, data: { content: [{ type: 'text', text: '42' }] } }],
    ['dsh', { type: 'assistant/message', seq: 3, time: 5, data: { message: { role: 'assistant', content: '42' } } }],
  ])('is found in the log of %s', async (_agent, event) => {
    const others = [
      { type: 'session', id: 's' },
      { role: 'user', content: '41' },
      { type: 'turn/end', data: { text: '40' } },
    ]
    expect(await score(task, logged(...others, event))).toBe(1)
    expect(await score(task, logged(...others))).toBe(0)
  })

  it('is found in what claude, codex and opencode left of real sessions', async () => {
    const root = temporaryFolder()
    await leave(root, {
      'claude/projects/p/s.jsonl': fixture('claude/session.fixture.jsonl'),
      'codex/sessions/s.jsonl': fixture('codex/session.fixture.jsonl'),
      'xdg/data/opencode/here': '',
    })
    const database = new DatabaseSync(join(root, 'xdg/data/opencode/opencode.db'))
    database.exec(fixture('opencode/session.fixture.sql'))
    database.close()
    for (const { plugin } of [claude, codex, opencode])
      expect([plugin.name, await score(hello, logged(...(await plugin.readTrajectory(root))))]).toEqual([plugin.name, 1])
  })

  it('is what the log says, and not what was printed beside it', async () => {
    expect(await score(task, { ...logged(said('41')), stdout: '42' })).toBe(0)
    expect(await score(task, { ...logged(said('42')), stdout: '{"type":"result"}' })).toBe(1)
  })

  it('is one message: an earlier right one does not help a later wrong one', async () => {
    expect(await score(task, logged(said('42'), said('41')))).toBe(0)
    expect(await score(task, logged(said('41'), said('42')))).toBe(1)
  })

  it('is neither a thought, nor a call, nor what a tool printed', async () => {
    const thought = { role: 'assistant', content: [{ type: 'thinking', thinking: '42', text: '42' }] }
    const call = { role: 'assistant', content: [{ type: 'tool_use', input: { command: 'echo 42' } }] }
    expect(await score(task, logged(said('41'), thought, call, { role: 'tool', content: '42' }))).toBe(0)
  })

  it('is the agent’s own, not that of an agent it started whose log is read later', async () => {
    const late = [said('42', { time: 9 }), said('41', { time: 7 })]
    expect(await score(task, logged(...late))).toBe(1)
    expect(await score(task, logged(said('42'), said('41', { isSidechain: true })))).toBe(1)
    const stamped = [said('42', { timestamp: '2026-01-02T00:00:00Z' }), said('41', { timestamp: '2026-01-01T00:00:00Z' })]
    expect(await score(task, logged(...stamped))).toBe(1)
  })
})
