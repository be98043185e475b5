import { describe, expect, it } from 'vitest'
import type { Entry, JsonObject } from '../contract/index.ts'
import { nativeProblems } from './native.ts'
import { renderTree } from './render.ts'
import { before, native } from './testing/adapters.ts'

const entry = (kind: string, name: string, config: JsonObject): Entry => ({ id: name, name: kind, config: { name, ...config } })
const agent = (name: string, config: JsonObject = {}): Entry => entry('native_agent', name, { prompt: 'p', ...config })
const tool = entry('native_tool', 'read', { description: 'd', code: '1' })
const skill = entry('skill', 'style', { text: 't' })
const loop = (name: string): Entry => entry('native_loop', name, { code: 'export function runTurn(ctx) {}' })
const settings = (data: JsonObject, target = 'models'): Entry => ({ id: 'settings', name: 'config', config: { target, data } })
const graph = (name: string, stages: JsonObject): Entry => entry('native_graph', name, { start: 's', stages, edges: [] })

describe('a native tree', () => {
  it('whose entries name each other and what the agent has itself is fine', () => {
    const entries = [
      settings({ context_window: 8192 }),
      graph('main', { act: { kind: 'tools', allow: ['read', 'harness_try'] }, ask: { kind: 'subagent', agent: 'critic' } }),
      agent('writer', { graph: 'main', tools: ['read'], skills: ['style'], ...before('critic') }),
      agent('critic', { graph: 'seed' }),
      tool,
      skill,
      loop('turn'),
    ]
    expect(nativeProblems(entries)).toEqual([])
  })

  it.each<[string, readonly Entry[], string]>([
    ['an agent with a tool that is not there', [agent('a', { tools: ['read'] })], 'a: config.tools names read,'],
    ['an agent with a skill that is not there', [agent('a', { skills: ['style'] })], 'a: config.skills names style,'],
    ['an agent with a graph that is not there', [agent('a', { graph: 'main' })], 'a: config.graph names main,'],
    ['an agent before one that is not there', [agent('a', before('b'))], 'a: config.then names b,'],
    [
      'a stage with a tool that is not there',
      [graph('g', { s: { kind: 'tools', allow: ['read'] } })],
      'g: config.stages.s.allow names read,',
    ],
    ['a stage with an agent that is not there', [graph('g', { s: { kind: 'subagent', agent: 'b' } })], 'g: config.stages.s.agent names b,'],
    ['a disabled tool', [agent('a', { tools: ['read'] }), { ...tool, disabled: true }], 'a: config.tools names read,'],
    ['agents that follow each other', [agent('a', before('b')), agent('b', before('a'))], 'a: the agent hands over to itself'],
    [
      'an agent whose graph asks it',
      [agent('a', { graph: 'g' }), graph('g', { s: { kind: 'subagent', agent: 'b' } }), agent('b', before('a'))],
      'a: the agent hands over to itself',
    ],
    ['two loops', [loop('a'), loop('b')], 'b: a tree has one native_loop, and a is there'],
    ['settings of another file', [settings({}, 'primary')], 'settings: config.target must be models'],
    ['settings that choose the model', [settings({ model: 'x' })], 'settings: config.data.model is set by the service'],
    ['settings that choose the address', [settings({ base_url: 'x' })], 'settings: config.data.base_url is set'],
    ['a window of nothing', [settings({ context_window: 0 })], 'settings: config.data.context_window must be'],
  ])('with %s does not render', (_, entries, problem) => {
    expect(() => renderTree(native, entries)).toThrow(problem)
  })

  it('of two loops of which one is disabled has one', () => {
    expect(Object.keys(renderTree(native, [loop('a'), { ...loop('b'), disabled: true }]))).toContain('native/loops/a.ts')
  })
})
