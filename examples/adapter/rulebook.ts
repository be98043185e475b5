/** A small adapter: rules become one file and each skill another, beside the file with the model's address. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { define, type JsonObject } from '../../src/contract/index.ts'
import { isMissing } from '../../src/kit/index.ts'

const TRAJECTORY = 'trajectory.jsonl'

export default define('adapter', {
  name: 'rulebook',
  binary: 'rulebook-agent',
  trajectory_format: 'jsonl',

  /** The service renders by this layout. Kinds without a path here are refused. */
  layout: {
    config: { primary: { path: 'settings.json', defaults: { telemetry: false } }, model: { path: 'model.json' } },
    rules: 'RULES.md',
    named: { skill: 'skills/{name}.md' },
  },

  /** What is not listed has every power, and waits for a person. */
  powers: { kinds: { rules: ['words'], skill: ['words'] }, settings: {}, head: {}, texts: [] },

  /** These files hold the key, so they are only written to the agent's folder. */
  bindings: {
    openai: ({ url, model, apiKey }) => [{ target: 'model', data: { base_url: `${url}/v1`, model, api_key: apiKey } }],
  },

  /** The prompt is one argument; no shell parses it. */
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

/** An agent that never started has no log. */
function noneWritten(error: unknown): string {
  if (isMissing(error)) return ''
  throw error
}
