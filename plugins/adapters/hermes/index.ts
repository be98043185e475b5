/** Hermes: home `hermes/`, settings as YAML, commands as skills in a separate folder. */
import { join } from 'node:path'
import { define, NO_TOKEN, type Adapter, type ConfigPatch, type Layout, type ModelAddress } from '../../../src/contract/index.ts'
import { modelName, requestsCommand } from '../../../src/harness/index.ts'
import { finishHermes } from './finish.ts'
import { readSnapshots } from './snapshots.ts'

const layout: Layout = {
  config: {
    primary: {
      path: 'hermes/config.yaml',
      defaults: {
        // No model call for session titles.
        auxiliary: { title_generation: { enabled: false } },
        memory: { nudge_interval: 0 },
        // No download of its scanner.
        security: { tirith_enabled: false },
        // Otherwise there is only a database, and no trajectory to read.
        sessions: { write_json_snapshots: true },
        skills: { external_dirs: ['${HERMES_HOME}/../hermes-commands'] },
      },
    },
  },
  rules: 'hermes/SOUL.md',
  named: {
    agent_command: 'hermes-commands/{name}/SKILL.md',
    skill: 'hermes/skills/{name}/SKILL.md',
    code_extension: 'hermes/plugins/{name}/__init__.py',
  },
}

const hermes: Adapter = {
  name: 'hermes',
  binary: 'hermes',
  trajectory_format: 'hermes-session-json',
  layout,
  bindings: { openai: bound },
  install: {
    manager: 'git',
    package: 'hermes-agent',
    version: '0.21.0',
    binary_path: 'venv/bin/hermes',
    repository: 'https://github.com/NousResearch/hermes-agent',
    ref: 'v2026.8.31',
  },
  client: {
    env: { HERMES_HOME: '{root}/hermes' },
    env_defaults: {},
    state: ['hermes/state.db', 'hermes/memories/', 'hermes/sessions/'],
    tools: [{ command: 'rg', package: 'ripgrep' }],
  },
  shipped: { requests: [requestsCommand('hermes', { words: "Their request is what stands after the command's name." })] },
  finish: (draft) => finishHermes(layout, draft),

  /** `--` and the like protect a prompt that begins like an option. */
  launch: ({ prompt }, root) => ({
    argv: ['hermes', 'chat', '-Q', '--oneshot', '-q', prompt.startsWith('-') ? ` ${prompt}` : prompt],
    env: { HOME: root, HERMES_HOME: join(root, 'hermes') },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readSnapshots(join(root, 'hermes/sessions')),
}

export default define('adapter', hermes)

/** The key is only in the settings: a variable that Hermes knows would be sent to the provider of that name. */
function bound(address: ModelAddress): readonly ConfigPatch[] {
  const model = { provider: 'custom:svc', default: modelName('hermes', address) }
  const svc = { base_url: `${address.url}/v1`, api_key: address.apiKey ?? NO_TOKEN, api_mode: 'chat_completions' }
  return [{ target: 'primary', data: { model, providers: { svc } } }]
}
