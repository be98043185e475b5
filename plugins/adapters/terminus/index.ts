/** Terminus, Terminal-Bench's agent: settings are its constructor arguments, the prompt is a task of the benchmark. */
import { join } from 'node:path'
import { define, NO_TOKEN, type Adapter, type ConfigPatch, type Layout, type ModelAddress } from '../../../src/contract/index.ts'
import { headed, modelName, printed } from '../../../src/harness/index.ts'
import { readRuns } from './runs.ts'
import { refuseForeignSettings } from './settings.ts'

const layout: Layout = {
  config: { primary: { path: 'terminus/config.json' } },
  rules: 'terminus/AGENTS.md',
  named: { agent_command: 'terminus-commands/{name}/SKILL.md', skill: 'terminus/skills/{name}/SKILL.md' },
}

const terminus: Adapter = {
  name: 'terminus',
  binary: 'svc-terminus',
  trajectory_format: 'terminus-atif-json',
  layout,
  bindings: { openai: bound },

  finish(draft) {
    refuseForeignSettings(draft.entries)
    return { ...printed({ layout }, draft), ...headed({ layout }, draft) }
  },

  /** The prompt names a task; the program gets the root that holds skills and commands. */
  launch: ({ prompt }, root) => ({
    argv: ['svc-terminus', '--task', prompt],
    env: { SVC_TERMINUS_DIR: root },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readRuns(join(root, 'terminus/runs')),
}

export default define('adapter', terminus)

/** It uses LiteLLM, where the prefix of a model name selects the format. */
function bound(address: ModelAddress): readonly ConfigPatch[] {
  const model_name = `openai/${modelName('terminus', address)}`
  const llm_kwargs = { api_key: address.apiKey ?? NO_TOKEN }
  return [{ target: 'primary', data: { model_name, api_base: `${address.url}/v1`, llm_kwargs } }]
}
