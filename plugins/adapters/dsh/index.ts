/** DeepSeek Harness: home `dsh/`, settings as a list of patches to its plug-ins, commands as skills that only a person may call. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { define, NO_TOKEN, type Adapter, type ConfigPatch, type Layout, type ModelAddress } from '../../../src/contract/index.ts'
import { modelName, piAiBindings, readJsonLines, requestsCommand } from '../../../src/harness/index.ts'
import { finishDsh } from './finish.ts'
import { POWERS } from './powers.ts'

/** It reads the key from a variable. The person's own variable would override it, so the name is unique. */
const KEY_VARIABLE = 'SVC_DSH_MODEL_KEY'

const layout: Layout = {
  // This file applies to every profile, after the profile's own.
  config: { primary: { path: 'dsh/cordis.patch.yml' }, env: { path: 'dsh/.env' } },
  rules: 'dsh/AGENTS.md',
  named: {
    agent_command: 'dsh-agents/skills/{name}/SKILL.md',
    skill: 'dsh/skills/{name}/SKILL.md',
    code_extension: 'dsh/extensions/{name}.mjs',
  },
}

const dsh: Adapter = {
  name: 'dsh',
  binary: 'dsh',
  trajectory_format: 'deepseek-session-jsonl',
  layout,
  powers: POWERS,
  bindings: piAiBindings(bound),
  install: {
    manager: 'npm',
    package: '@deepseek-ai/dsh',
    version: '0.1.0-rc.8',
    binary_path: 'node_modules/.bin/dsh',
    lock: readFileSync(new URL('./package-lock.json', import.meta.url), 'utf8'),
    // Its session log needs Node's Zstandard, even when switched off.
    node_least: '22.15',
  },
  client: {
    env: { DSH_HOME: '{root}/dsh', DSH_AGENTS_HOME: '{root}/dsh-agents' },
    env_defaults: { DSH_TELEMETRY_MODE: 'DISABLED' },
    // Not its settings, presets and profiles: they name code that the next release would load.
    state: ['dsh/.credentials.yaml', 'dsh/sessions/', 'dsh/storages/'],
    takes: {},
    tools: [{ command: 'rg', package: 'ripgrep' }],
  },
  shipped: { requests: [requestsCommand('dsh', { words: "Their request is what stands after the command's name." })] },
  finish: (draft) => finishDsh(layout, draft),

  /** Two parsers read the arguments in turn, and each consumes one `--`. */
  launch: ({ prompt }, root) => ({
    argv: ['dsh', '--profile', 'headless', '--', '--', prompt],
    env: { HOME: root, DSH_HOME: join(root, 'dsh'), DSH_AGENTS_HOME: join(root, 'dsh-agents'), DSH_TELEMETRY_MODE: 'DISABLED' },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readJsonLines(join(root, 'dsh/sessions')),
}

export default define('adapter', dsh)

function bound(api: string, baseURL: string, address: ModelAddress): readonly ConfigPatch[] {
  const model = modelName('dsh', address)
  const svc = { api, apiKeyEnv: KEY_VARIABLE, baseURL, models: [{ id: model }] }
  const rows = { 'llm-pi-ai': { config: { providers: { svc } } }, 'agent-default-model': { config: { provider: 'svc', model } } }
  return [
    { target: 'primary', data: rows },
    { target: 'env', data: { [KEY_VARIABLE]: address.apiKey ?? NO_TOKEN } },
  ]
}
