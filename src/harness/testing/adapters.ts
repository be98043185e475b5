/** Two small agents for tests: one with plain files, one with the native kinds. */
import type { Adapter, Entry, Json, JsonObject, Mutation } from '../../contract/index.ts'

const idle: Pick<Adapter, 'trajectory_format' | 'launch' | 'readTrajectory'> = {
  trajectory_format: 'none',
  launch: ({ prompt }) => ({ argv: ['agent', prompt], env: {}, timeoutSeconds: 1 }),
  readTrajectory: () => Promise.resolve([]),
}

export const NOTICE: Entry = {
  id: 'svc-version-check',
  name: 'code_extension',
  config: { name: 'svc-notice', code: 'export default () => 1' },
}
export const REQUESTS: Entry = { id: 'svc-requests', name: 'agent_command', config: { name: 'svc', text: 'Ask for a change.' } }

export const plain: Adapter = {
  ...idle,
  name: 'plain',
  binary: 'plain-agent',
  layout: {
    config: {
      primary: { path: 'agent/settings.json', defaults: { telemetry: false, ui: { theme: 'dark', columns: 80 } } },
      models: { path: 'agent/models.json' },
    },
    rules: 'agent/RULES.md',
    named: {
      agent_command: 'agent/commands/{name}.md',
      skill: 'agent/skills/{name}/SKILL.md',
      code_extension: 'agent/extensions/{name}.ts',
    },
  },
  bindings: {
    openai: ({ url, model, apiKey }) => [{ target: 'models', data: { url, model, key: apiKey } }],
    anthropic: ({ url }) => [{ target: 'models', data: { url, api: 'messages' } }],
  },
  install: { manager: 'npm', package: 'plain-agent', version: '1.0.0', binary_path: 'node_modules/.bin/plain-agent' },
  client: { env: { PLAIN_DIR: '{root}/agent' }, env_defaults: {}, state: [], tools: [] },
  shipped: { version_check: [NOTICE], requests: [REQUESTS] },
}

export const native: Adapter = {
  ...idle,
  name: 'native',
  binary: 'native-agent',
  layout: {
    config: { primary: { path: 'native/config.json' }, models: { path: 'native/models.json' } },
    rules: 'native/RULES.md',
    named: {
      skill: 'native/skills/{name}/SKILL.md',
      native_tool: 'native/tools/{name}.ts',
      native_hook: 'native/hooks/{name}.ts',
      native_agent: 'native/agents/{name}.json',
      native_graph: 'native/graphs/{name}.json',
      native_loop: 'native/loops/{name}.ts',
    },
    tree: 'native/tree.json',
  },
  bindings: {},
}

/** Untrusted input, typed as what it claims to be. */
export const sentEntry = (value: Json): Entry => JSON.parse(JSON.stringify(value))
export const sentMutations = (value: Json): readonly Mutation[] => JSON.parse(JSON.stringify(value))

// oxlint-disable-next-line unicorn/no-thenable -- the interface's word
export const before = (...names: readonly string[]): JsonObject => ({ then: names })
