/** A small adapter: a tree of rules becomes one file, which a command-line agent reads beside the address of its model. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { define, type Entry, type JsonObject } from '../../src/contract/index.ts'

const TRAJECTORY = 'trajectory.jsonl'

export default define('adapter', {
  name: 'rulebook',
  binary: 'rulebook-agent',
  /** An entry's name is its kind. */
  kinds: ['rule'],
  trajectory_format: 'jsonl',
  model_bindings: ['model.json'],

  /** One file for all: no entry's id becomes a path. */
  render: (entries) => ({ 'RULES.md': entries.filter(isInForce).map(lineOf).join('') }),

  /** The key is in the files, so they go to the agent's folder and nowhere else. */
  bindModel: (files, model) => ({ ...files, 'model.json': `${JSON.stringify(model, null, 2)}\n` }),

  /** The prompt is a word of its own; no shell reads it. */
  launch: ({ prompt }, root) => ({
    argv: ['rulebook-agent', '--rules', join(root, 'RULES.md'), '--model', join(root, 'model.json'), '--', prompt],
    env: { RULEBOOK_TRAJECTORY: join(root, TRAJECTORY) },
    timeoutSeconds: 600,
  }),

  async readTrajectory(root) {
    const text = await readFile(join(root, TRAJECTORY), 'utf8').catch(noneWritten)
    return text.split('\n').flatMap((line): JsonObject[] => (line === '' ? [] : [JSON.parse(line)]))
  },
})

const isInForce = ({ name, disabled }: Entry): boolean => name === 'rule' && disabled !== true

function lineOf({ config: { text } }: Entry): string {
  return typeof text === 'string' ? `- ${text.replaceAll('\n', ' ')}\n` : ''
}

/** An agent that never got to work wrote none. */
function noneWritten(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
  throw error
}
