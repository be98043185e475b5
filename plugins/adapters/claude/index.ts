/** Claude Code: files under `claude/`, extensions as hooks, the model in the settings, JSON lines as log. */
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

  /** Nobody can grant permissions in an episode. Root needs the variable: Claude Code accepts root only in a sandbox. */
  launch: ({ prompt }, root) => ({
    argv: ['claude', '-p', '--output-format', 'json', '--permission-mode', 'bypassPermissions', '--', prompt],
    env: { HOME: root, CLAUDE_CONFIG_DIR: join(root, 'claude'), IS_SANDBOX: '1' },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readJsonLines(join(root, 'claude/projects')),
}

export default define('adapter', claude)

/** Variables in the settings override the user's own, so that no other account or vendor bypasses the service. */
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

/** Subagents request models by size; all sizes map to this one. */
const modelVariables = (model: string): JsonObject => ({
  ANTHROPIC_MODEL: model,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  ANTHROPIC_DEFAULT_OPUS_MODEL: model,
  ANTHROPIC_DEFAULT_SONNET_MODEL: model,
})
