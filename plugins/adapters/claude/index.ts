/** The agent Claude Code: its files under `claude/`, its extensions as hooks, its model named in the settings, its log as JSON lines. */
import { join } from 'node:path'
import { define, NO_TOKEN, type Adapter, type JsonObject, type Layout, type ModelAddress } from '../../../src/contract/index.ts'
import { headed, printed, readJsonLines, refuseModel, refuseOtherName } from '../../../src/harness/index.ts'
import { hooksOf } from './hooks.ts'
import { DEFAULTS, refuseForeignSettings, refuseHooks } from './settings.ts'
import { shipped } from './shipped.ts'

const VERSION = '2.1.325'

const layout: Layout = {
  config: { primary: { path: 'claude/settings.json', defaults: DEFAULTS } },
  rules: 'claude/CLAUDE.md',
  named: {
    agent_command: 'claude/commands/{name}.md',
    skill: 'claude/skills/{name}/SKILL.md',
    code_extension: 'claude/extensions/{name}.mjs',
  },
}

const claude: Adapter = {
  name: 'claude',
  binary: 'claude',
  trajectory_format: 'claude-session-jsonl',
  layout,
  bindings: { anthropic: (model) => [{ target: 'primary', data: bindingOf(model) }] },
  install: { manager: 'npm', package: '@anthropic-ai/claude-code', version: VERSION, binary_path: 'node_modules/.bin/claude' },
  client: {
    env: { CLAUDE_CONFIG_DIR: '{root}/claude' },
    env_defaults: {},
    state: [
      'claude/projects/',
      'claude/file-history/',
      'claude/plans/',
      'claude/tasks/',
      'claude/todos/',
      'claude/.claude.json',
      'claude/history.jsonl',
    ],
    tools: [],
  },
  shipped,

  finish(draft) {
    refuseForeignSettings(draft.entries)
    const hooks = hooksOf(draft.entries)
    const primary = { ...draft.config['primary'], ...(Object.keys(hooks).length > 0 && { hooks }) }
    return {
      ...printed({ layout }, { ...draft, config: { primary } }),
      ...headed({ layout }, draft, [refuseOtherName, refuseModel, refuseHooks]),
    }
  },

  /** Nobody is there to be asked for permission. The variable is without effect but for root, whom Claude Code believes in a sandbox alone. */
  launch: ({ prompt }, root) => ({
    argv: ['claude', '-p', '--output-format', 'json', '--permission-mode', 'bypassPermissions', '--', prompt],
    env: { HOME: root, CLAUDE_CONFIG_DIR: join(root, 'claude'), IS_SANDBOX: '1' },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readJsonLines(join(root, 'claude/projects')),
}

export default define('adapter', claude)

/** Variables in the settings win over the person's own: one that names another account or vendor must not lead a session past the service. */
function bindingOf({ url, model, apiKey }: ModelAddress): JsonObject {
  const env = {
    ANTHROPIC_API_KEY: '',
    ANTHROPIC_AUTH_TOKEN: apiKey ?? NO_TOKEN,
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_USE_BEDROCK: '0',
    CLAUDE_CODE_USE_FOUNDRY: '0',
    CLAUDE_CODE_USE_VERTEX: '0',
  }
  return model === null ? { env } : { model, env: { ...env, ...modelVariables(model) } }
}

/** Agents within the session ask for models by size; whatever the size, there is this one. */
const modelVariables = (model: string): JsonObject => ({
  ANTHROPIC_MODEL: model,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  ANTHROPIC_DEFAULT_OPUS_MODEL: model,
  ANTHROPIC_DEFAULT_SONNET_MODEL: model,
})
