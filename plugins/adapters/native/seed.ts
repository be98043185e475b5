/** The seed tree: four tools, a graph and a few rules, each an entry that evolution can change. */
import { readFileSync } from 'node:fs'
import type { Entry, JsonObject } from '../../../src/contract/index.ts'

const textAt = (file: string): string => readFileSync(new URL(`./seed/${file}`, import.meta.url), 'utf8')

const PATH = { type: 'string', description: 'Absolute, or from the working directory.' }

export const seed: readonly Entry[] = [
  { id: 'rules', name: 'rules', config: { text: textAt('rules.md').trim() } },
  tool('read', 'Reads a text file, or lists a folder.', ['read'], ['path'], {
    path: PATH,
    offset: { type: 'integer', description: 'The first line to read, from 1.' },
    limit: { type: 'integer', description: 'How many lines to read at most.' },
  }),
  tool('write', 'Writes a file whole; what it held before is lost.', ['read', 'write'], ['path', 'content'], {
    path: PATH,
    content: { type: 'string' },
  }),
  tool('edit', 'Replaces a text in a file by another.', ['read', 'write'], ['path', 'old_text', 'new_text'], {
    path: PATH,
    old_text: { type: 'string', description: 'Exactly as it stands in the file, and once there.' },
    new_text: { type: 'string' },
    all: { type: 'boolean', description: 'Replace it wherever it stands.' },
  }),
  tool(
    'bash',
    'Runs a shell command in the working directory. What it leaves running is ended.',
    ['read', 'write', 'exec', 'network'],
    ['command'],
    {
      command: { type: 'string' },
      timeout_seconds: { type: 'integer', description: 'Default 120, at most 280.' },
    },
  ),
  {
    id: 'main',
    name: 'native_graph',
    config: {
      name: 'main',
      start: 'tidy',
      max_steps: 32,
      stages: {
        think: { kind: 'model' },
        act: { kind: 'tools' },
        tidy: { kind: 'compact', fire_ratio: 0.8, keep_ratio: 0.5 },
        done: { kind: 'end', reason: 'completed' },
      },
      edges: [
        { from: 'think', outcome: 'tool_calls', to: 'act' },
        { from: 'act', outcome: 'done', to: 'tidy' },
        { from: 'tidy', outcome: 'done', to: 'think' },
        { from: 'think', outcome: 'text', to: 'done' },
      ],
    },
  },
]

function tool(name: string, description: string, capabilities: string[], required: string[], properties: JsonObject): Entry {
  const parameters = { type: 'object', properties, required }
  return { id: name, name: 'native_tool', config: { name, description, capabilities, parameters, code: textAt(`${name}.ts`) } }
}
