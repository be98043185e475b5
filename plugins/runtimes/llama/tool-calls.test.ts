import { expect, it } from 'vitest'
import { readCalls } from './tool-calls.ts'

const TOOLS = [{ type: 'function', function: { name: 'look', parameters: {} } }]
const LOOK = { name: 'look', arguments: '{"at":1}' }

it.each([
  ['between tags', '<tool_call>\n{"name": "look", "arguments": {"at": 1}}\n</tool_call>', null, [LOOK]],
  ['between tags, after words', 'I will look.\n<tool_call>{"name":"look","arguments":{"at":1}}</tool_call>', 'I will look.', [LOOK]],
  [
    'twice between tags',
    '<tool_call>{"name":"look","arguments":{"at":1}}</tool_call>\n<tool_call>{"name":"look","arguments":{"at":1}}</tool_call>',
    null,
    [LOOK, LOOK],
  ],
  ['without a closing tag', '<tool_call>{"name":"look","arguments":{"at":1}}', null, [LOOK]],
  ['as bare JSON with parameters', '{"name": "look", "parameters": {"at": 1}}', null, [LOOK]],
  ['as bare JSON after a herald', '<|python_tag|>{"name": "look", "parameters": {"at": 1}}', null, [LOOK]],
  ['as a list', '[TOOL_CALLS] [{"name": "look", "arguments": {"at": 1}}]', null, [LOOK]],
  ['with arguments that are a text already', '{"name":"look","arguments":"{\\"at\\":1}"}', null, [LOOK]],
  ['without arguments', '{"name":"look"}', null, [{ name: 'look', arguments: '{}' }]],
])('a call %s is found', (_, text, content, calls) => {
  expect(readCalls(text, TOOLS)).toEqual({ content, calls })
})

it.each([
  ['words', 'look at 1'],
  ['JSON that is no call', '{"answer": 1}'],
  ['JSON that calls what was not offered', '{"name": "delete", "arguments": {}}'],
  ['JSON inside words', 'like {"name": "look", "arguments": {}}'],
  ['broken JSON between tags', '<tool_call>{"name": "look", </tool_call>'],
  ['arguments that are a number', '{"name": "look", "arguments": 4}'],
  ['an empty list', '[]'],
  ['nothing', ''],
])('%s stay what was said', (_, text) => {
  expect(readCalls(text, TOOLS)).toEqual({ content: text, calls: [] })
})

it('nothing is taken for a call where no tool was offered', () => {
  const text = '{"name": "look", "arguments": {}}'
  expect(readCalls(text, [])).toEqual({ content: text, calls: [] })
})

it('a text full of opening tags is read in one go', () => {
  const text = '<tool_call>'.repeat(200_000)
  expect(readCalls(text, TOOLS)).toEqual({ content: text, calls: [] })
})
