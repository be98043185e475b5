/** A small adapter: rules become one file and skills one each, which a command-line agent reads beside the address of its model. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { define, type JsonObject } from '../../src/contract/index.ts'

const TRAJECTORY = 'trajectory.jsonl'

export default define('adapter', {
  name: 'rulebook',
  binary: 'rulebook-agent',
  trajectory_format: 'jsonl',

  /** The service renders by this. What has no place here is refused, never dropped. */
  layout: {
    config: { primary: { path: 'settings.json', defaults: { telemetry: false } }, model: { path: 'model.json' } },
    rules: 'RULES.md',
    named: { skill: 'skills/{name}.md' },
  },

  /** The key is in these files, so they go to the agent's folder and nowhere else. */
  bindings: {
    openai: ({ url, model, apiKey }) => [{ target: 'model', data: { base_url: `${url}/v1`, model, api_key: apiKey } }],
  },

  /** The prompt is a word of its own; no shell reads it. */
  launch: ({ prompt }, root) => ({
    argv: ['rulebook-agent', '--home', root, '--', prompt],
    env: { RULEBOOK_TRAJECTORY: join(root, TRAJECTORY) },
    timeoutSeconds: 600,
  }),

  async readTrajectory(root) {
    const text = await readFile(join(root, TRAJECTORY), 'utf8').catch(noneWritten)
    return text.split('\n').flatMap((line): JsonObject[] => (line === '' ? [] : [JSON.parse(line)]))
  },
})

/** An agent that never got to work wrote none. */
function noneWritten(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
  throw error
}
