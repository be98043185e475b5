/** Terminus: what a tree becomes, what is refused, how it is started and what it leaves. */
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/contract/index.ts'
import { entry, itRefusesSettings, itConforms, trajectoryOf } from '../testing/adapter.ts'
import plugin from './index.ts'

const adapter = plugin.plugin

const tree: readonly Entry[] = [
  entry('turns', 'config', { data: { max_turns: 40, llm_call_kwargs: { top_p: 0.9 } } }),
  entry('brief', 'rules', { text: 'Leave no file behind.' }),
  entry('review', 'agent_command', { name: 'review', text: 'Review the last change.' }),
  entry('counting', 'skill', { name: 'counting', text: '# Count aloud\n\nOne, two, three.' }),
]

describe('terminus', () => {
  itConforms(adapter, tree)

  itRefusesSettings(adapter, [
    ['model_name', { model_name: 'openai/other' }],
    ['api_base', { api_base: 'http://elsewhere' }],
    ['llm_kwargs', { llm_kwargs: { timeout: 1 } }],
    ['logs_dir', { logs_dir: '/tmp' }],
    ['llm_call_kwargs', { llm_call_kwargs: ['model'] }],
    ['llm_call_kwargs.model', { llm_call_kwargs: { model: 'other' } }],
    ['llm_call_kwargs.base_url', { llm_call_kwargs: { base_url: 'http://elsewhere' } }],
    ['llm_call_kwargs.extra_body', { llm_call_kwargs: { extra_body: { model: 'other' } } }],
  ])

  it('it has nothing to install and names no program: the operator does, with evolution.binary', () => {
    expect([adapter.binary, adapter.install, adapter.client, adapter.shipped]).toEqual([undefined, undefined, undefined, undefined])
  })

  it('a run is read as what the verifier said of it, then its steps', async () => {
    const steps = [
      { step_id: 1, source: 'user', message: 'do it' },
      { step_id: 2, source: 'agent', message: 'done' },
    ]
    const files = {
      'terminus/runs/b.json': JSON.stringify({
        schema_version: 'ATIF-v1.4',
        steps: [],
        verifier: { task: 'b', reward: 0, error: 'timeout' },
      }),
      'terminus/runs/a.json': JSON.stringify({ schema_version: 'ATIF-v1.4', steps, verifier: { task: 'a', reward: 1 } }),
      'terminus/runs/notes.txt': 'no run',
    }
    expect(await trajectoryOf(adapter, files)).toEqual([
      { type: 'verifier', task: 'a', reward: 1 },
      { type: 'step', step_id: 1, source: 'user', message: 'do it' },
      { type: 'step', step_id: 2, source: 'agent', message: 'done' },
      { type: 'verifier', task: 'b', reward: 0, error: 'timeout' },
    ])
  })

  it.each(['{"steps":', '[]', '{"steps":{}}', '{"steps":[1]}'])('a document that is no run is no trajectory: %s', async (text) => {
    await expect(trajectoryOf(adapter, { 'terminus/runs/a.json': text })).rejects.toThrow()
  })
})
