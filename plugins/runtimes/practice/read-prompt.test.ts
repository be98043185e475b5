import { describe, expect, it } from 'vitest'
import { situationOf } from './situation.ts'
import { at, promptOf, ask } from './testing.ts'

const SUM = 'What is 2 + 3 * 4?'

describe('what clients put around a task', () => {
  it('chat: parts, system and developer roles, images', () => {
    const prompt = promptOf('chat', {
      messages: [
        { role: 'system', content: 'Rule one.' },
        { role: 'developer', content: [{ type: 'text', text: 'Rule two.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: SUM },
            { type: 'image_url', image_url: { url: 'data:,' } },
          ],
        },
      ],
    })
    expect(situationOf(prompt)).toMatchObject({ task: SUM, instructions: 'Rule one.\nRule two.', images: 1 })
  })

  it('messages: system blocks, a system role in between, reminders beside the user’s words and beside tool results', () => {
    const prompt = promptOf('messages', {
      system: [{ type: 'text', text: 'Base.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>Project rules.</system-reminder>' },
            { type: 'text', text: SUM },
          ],
        },
        { role: 'system', content: 'Skills follow.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'a.txt' }] },
            { type: 'text', text: '<system-reminder>Be good.</system-reminder>' },
          ],
        },
      ],
    })
    const { task, instructions, steps } = situationOf(prompt)
    expect(task).toBe(SUM)
    for (const rule of ['Base.', 'Project rules.', 'Skills follow.', 'Be good.']) expect(instructions).toContain(rule)
    expect(steps).toMatchObject([{ call: { id: 't1', name: 'Bash', input: '{"command":"ls"}' }, result: { text: 'a.txt' } }])
  })

  it('responses: instructions, developer items, project rules as user items, calls and outputs, items it does not know', () => {
    const prompt = promptOf('responses', {
      instructions: 'Base.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Developer.' }] },
        { role: 'user', content: [{ type: 'input_text', text: '# AGENTS.md\nProject rules.' }] },
        { role: 'user', content: [{ type: 'input_text', text: SUM }] },
        { type: 'reasoning', encrypted_content: 'x', summary: [] },
        { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"ls"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'done' }] },
      ],
      tools: [
        { type: 'web_search' },
        { type: 'custom', name: 'apply_patch' },
        { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'f' }] },
      ],
    })
    const { task, instructions, steps } = situationOf(prompt)
    expect(task).toBe(SUM)
    expect(instructions).toBe('Base.\nDeveloper.\n# AGENTS.md\nProject rules.')
    expect(steps.map(({ call, result }) => [call.name, result?.text])).toEqual([
      ['exec_command', 'a.txt'],
      ['apply_patch', 'done'],
    ])
    expect(prompt.tools.map(({ name, namespace, shape }) => [name, namespace, shape])).toEqual([
      ['apply_patch', null, 'custom'],
      ['f', 'ns', 'function'],
    ])
  })

  it('a finished exchange is over: what follows is a task of its own', () => {
    const messages = [
      { role: 'user', content: SUM },
      { role: 'assistant', content: '14' },
      { role: 'user', content: 'Thanks!' },
    ]
    expect(situationOf(promptOf('chat', { messages }))).toMatchObject({ task: 'Thanks!', found: null })
  })

  it('the body of a skill that follows the task is not taken for it', () => {
    const messages = [
      { role: 'user', content: SUM },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Skill', input: { skill: 'sums' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'Launching skill' }] },
      { role: 'user', content: 'Base directory: x. Multiply before you add.' },
    ]
    const { task, fresh } = situationOf(promptOf('messages', { messages }))
    expect(task).toBe(SUM)
    expect(fresh).toContain('Multiply before you add.')
  })
})

describe('the limits of a request', () => {
  it.each([
    ['auto', { kind: 'auto' }],
    ['none', { kind: 'none' }],
    ['required', { kind: 'required' }],
    [
      { type: 'function', function: { name: 'f' } },
      { kind: 'named', name: 'f' },
    ],
    [
      { type: 'function', name: 'f' },
      { kind: 'named', name: 'f' },
    ],
    [
      { type: 'tool', name: 'f' },
      { kind: 'named', name: 'f' },
    ],
    [{ type: 'any' }, { kind: 'required' }],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } }, { kind: 'required' }],
    [{ type: 'allowed_tools', mode: 'auto', tools: [] }, { kind: 'auto' }],
    [{ type: 'web_search' }, { kind: 'auto' }],
  ])('tool_choice %j', (choice, expected) => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    expect(promptOf('chat', { messages: [{ role: 'user', content: 'x' }], tools, tool_choice: choice }).choice).toEqual(expected)
  })

  it('images are mentioned, since they cannot be looked at', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } },
    ]
    const { body } = await ask('messages', { model: 'm', max_tokens: 500, messages: [{ role: 'user', content }] })
    expect(at(body, 'content', 0, 'text')).toMatch(/^I got an image/)
  })
})
