/** Graphs and the agents they ask, with a scripted model. */
import { describe, expect, it } from 'vitest'
import { add, entry, graph, model, play, results, tool } from './testing/native.ts'

const THINK = { think: { kind: 'model' }, act: { kind: 'tools' }, done: { kind: 'end', reason: 'completed' } }
const hook = (event: string, code: string, name = event) => entry('native_hook', { name, event, code })
const clerk = (more: object = {}) => entry('native_agent', { name: 'clerk', prompt: 'You add.', tools: ['add'], ...more })

describe('a graph', () => {
  it('has the last line checked, and the model learns what is wrong with it', async () => {
    const stages = {
      think: { kind: 'model' },
      check: { kind: 'verify', check: 'last_line_integer' },
      done: { kind: 'end', reason: 'completed' },
      act: { kind: 'tools' },
    }
    const way = graph(stages, ['think text check', 'think tool_calls act', 'act done think', 'check pass done', 'check fail think'])
    const end = await play([way], await model('about 7', 'It is\n7\n'))
    expect(end).toMatchObject({ reason: 'completed', text: 'It is\n7\n' })
    expect(end.asked.at(-1)).toEqual({ role: 'user', content: expect.stringContaining('must be a whole number') })
  })

  it('branches on what happened, and a pattern that takes for ever is no match', async () => {
    const cases = [
      { outcome: 'slow', last_text_matches: '^(a+)+$' },
      { outcome: 'late', steps_used_at_least: 2 },
    ]
    const stages = {
      think: { kind: 'model' },
      which: { kind: 'branch', cases },
      say: { kind: 'message', text: 'Again.' },
      done: { kind: 'end', reason: 'gave_up' },
      act: { kind: 'tools' },
    }
    const ways = [
      'think text which',
      'think tool_calls act',
      'act done think',
      'which slow done',
      'which late done',
      'which else say',
      'say done think',
    ]
    const end = await play([graph(stages, ways)], await model(`${'a'.repeat(60)}!`))
    expect(end.reason).toBe('gave_up')
    expect(end.asked.at(-1)?.content).toBe('Again.')
    expect(
      end.events.filter(({ type, data }) => type === 'stage/exit' && data['stage'] === 'which').map(({ data }) => data['outcome']),
    ).toEqual(['else', 'late'])
  })

  it('leaves out the oldest messages of a long conversation, never a result without its call', async () => {
    const long = tool('long', "export const run = (): string => 'x'.repeat(4000)")
    const stages = { ...THINK, tidy: { kind: 'compact', fire_ratio: 0.9, keep_ratio: 0.4 } }
    const way = graph(stages, ['think tool_calls act', 'act done tidy', 'tidy done think', 'think text done'])
    const window = entry('config', { target: 'models', data: { context_window: 3000 } })
    const end = await play([long, way, window], await model({ long: {} }, { long: {} }, { long: {} }, 'ok'))
    expect(end.events.map(({ type }) => type)).toContain('context/compacted')
    const [, task, note, first] = end.asked
    expect([task?.content, note?.content, first?.role]).toEqual(['the task', expect.stringContaining('left out'), 'assistant'])
  })

  it('that was edited to lead nowhere ends the turn with that reason', async () => {
    const stages = { think: { kind: 'message', text: 'x' }, done: { kind: 'end', reason: 'completed' } }
    const circle = await play([graph(stages, ['think done think'])], await model('x'))
    expect(circle).toMatchObject({ code: 'GRAPH_ERROR', message: expect.stringContaining('comes to no end') })
    const gap = await play([graph(stages, [])], await model('x'))
    expect(gap).toMatchObject({ code: 'GRAPH_ERROR', message: expect.stringContaining('no edge from think for done') })
  })

  it('lets only the tools of a stage be called there', async () => {
    const stages = { ...THINK, act: { kind: 'tools', allow: [] } }
    const end = await play(
      [add, graph(stages, ['think tool_calls act', 'act done think', 'think text done'])],
      await model({ add: { a: 1, b: 1 } }, 'ok'),
    )
    expect(results(end)).toEqual(['UNKNOWN_TOOL: there is no tool "add" here; there are: none'])
  })
})

describe('an agent of the tree', () => {
  const stages = {
    ask: { kind: 'subagent', agent: 'clerk' },
    think: { kind: 'model' },
    done: { kind: 'end', reason: 'completed' },
    failed: { kind: 'end', reason: 'gave_up' },
    act: { kind: 'tools' },
  }
  const ways = [
    'ask completed think',
    'ask gave_up failed',
    'ask budget failed',
    'ask ask failed',
    'think text done',
    'think tool_calls act',
    'act done think',
  ]
  it('takes a turn of its own, and its followers go on with its text', async () => {
    const second = entry('native_agent', { name: 'second', prompt: 'You check.', tools: [] })
    // oxlint-disable-next-line unicorn/no-thenable -- the interface's word, and this object is never awaited
    const first = clerk({ then: ['second'] })
    const end = await play([add, graph(stages, ways), first, second], await model('first', 'checked', 'all'))
    expect(end).toMatchObject({ reason: 'completed', text: 'all' })
    expect(end.asked.at(-1)?.content).toBe('clerk answered:\nchecked')
    const headers = end.events.filter(({ type }) => type === 'session').map(({ data }) => [data['agent'], data['task']])
    expect(headers).toEqual([
      [undefined, 'the task'],
      ['clerk', 'the task'],
      ['second', 'first'],
    ])
  })

  it('spends what the turn has, and ends when it is used up', async () => {
    const end = await play([add, graph(stages, ways, { max_steps: 2 }), clerk()], await model({ add: { a: 1, b: 1 } }))
    expect([end.reason, end.questions]).toEqual(['gave_up', 2])
  })

  it('that would have to ask a person ends with that, where a turn of a person goes on without', async () => {
    const ask = hook('pre_execute', "export const decide = () => ({ action: 'ask', reason: 'it costs' })")
    const agent = await play([add, ask, graph(stages, ways), clerk()], await model({ add: { a: 1, b: 1 } }))
    expect(agent.reason).toBe('gave_up')
    expect(agent.events.filter(({ type }) => type === 'turn/end').map(({ data }) => data['reason'])).toEqual(['gave_up', 'ask'])
    const person = await play([add, ask], await model({ add: { a: 1, b: 1 } }, 'ok'))
    expect(results(person)).toEqual(['APPROVAL_REQUIRED: a person must approve this call: it costs; go on without it'])
  })
})
