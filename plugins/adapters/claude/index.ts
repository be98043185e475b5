/** Claude Code: files under `claude/`, extensions as hooks, the model in the settings, JSON lines as log. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  define,
  NO_TOKEN,
  type Adapter,
  type JsonObject,
  type Layout,
  type ModelAddress,
  isObject,
  type Entry,
  type Json,
} from '../../../src/contract/index.ts'
import { headed, printed, readJsonLines, refuseModel, requestsCommand } from '../../../src/harness/index.ts'
import { DEFAULTS, refuseForeignSettings, refuseHooks } from './settings.ts'
import { POWERS } from './powers.ts'

/** Silent without a newer release, and in sessions without the wrapper. */
const NOTICE = '[ -z "$SVC_WRAPPER" ] || "$SVC_WRAPPER" notice --hook claude'

/** Shipped entries for Claude Code: the command that asks for a change, and the notice of a newer release. */
const shipped: Required<Adapter>['shipped'] = {
  version_check: [
    {
      id: 'svc-version-check',
      name: 'config',
      config: { data: { hooks: { SessionStart: [{ matcher: 'startup|resume', hooks: [{ type: 'command', command: NOTICE }] }] } } },
    },
  ],
  requests: [requestsCommand('claude', { words: 'Their request:\n\n$ARGUMENTS', how: 'in the background' })],
}

/** The events that run an extension. */
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const

type Hook = readonly [event: string, group: Json]

const VERSION = '2.1.328'

const layout: Layout = {
  config: { primary: { path: 'claude/settings.json', defaults: DEFAULTS } },
  rules: 'claude/CLAUDE.md',
  named: {
    agent_command: 'claude/commands/{name}.md',
    skill: 'claude/skills/{name}/SKILL.md',
    code_extension: 'claude/extensions/{name}.mjs',
  },
}

/** What spares a person the questions of a first start. */
const KEPT_FIELDS = [
  'hasCompletedOnboarding',
  'lastOnboardingVersion',
  'lastReleaseNotesSeen',
  'numStartups',
  'firstStartTime',
  'theme',
  'editorMode',
]

/** A person's servers: everywhere, in the project, and those of the project's own file that they agreed to or refused. */
const OF_PROJECT = ['mcpServers', 'enabledMcpjsonServers', 'disabledMcpjsonServers']
const MCP_FIELDS = [['mcpServers'], ...OF_PROJECT.map((name) => ['projects', '{folder}', name])]

const claude: Adapter = {
  name: 'claude',
  binary: 'claude',
  trajectory_format: 'claude-session-jsonl',
  layout,
  powers: POWERS,
  bindings: { anthropic: (model) => [{ target: 'primary', data: bindingOf(model) }] },
  install: {
    manager: 'npm',
    package: '@anthropic-ai/claude-code',
    version: VERSION,
    binary_path: 'node_modules/.bin/claude',
    lock: readFileSync(new URL('./package-lock.json', import.meta.url), 'utf8'),
    native: ['@anthropic-ai/claude-code-{os}-{cpu}/claude', '@anthropic-ai/claude-code-{os}-{cpu}-musl/claude'],
  },
  client: {
    env: { CLAUDE_CONFIG_DIR: '{root}/claude' },
    env_defaults: {},
    state: ['claude/projects/', 'claude/file-history/', 'claude/plans/', 'claude/tasks/', 'claude/todos/', 'claude/history.jsonl'],
    // Not its projects, accounts, servers and permissions: they would speak to the next session, and nobody has seen them.
    state_fields: { 'claude/.claude.json': KEPT_FIELDS },
    takes: {
      memory: { from: '.claude/CLAUDE.md', to: 'claude/CLAUDE.md' },
      mcp: { from: '.claude.json', to: 'claude/.claude.json', fields: MCP_FIELDS },
    },
    tools: [],
  },
  shipped,

  finish(draft) {
    refuseForeignSettings(draft.entries)
    const hooks = hooksOf(draft.entries)
    const primary = { ...draft.config['primary'], ...(Object.keys(hooks).length > 0 && { hooks }) }
    return {
      ...printed({ layout }, { ...draft, config: { primary } }),
      ...headed({ layout }, draft, [refuseModel, refuseHooks]),
    }
  },

  /** No person can grant permissions in an episode. Root needs the variable: Claude Code accepts root only in a sandbox. */
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

/**
 * Concatenates the hooks of all entries, since merging lists would keep only the last. An extension is a Node program that runs at each of
 * five events. It reads the event as one JSON object on stdin (`hook_event_name` says which), and may write
 * `{"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}` to stdout; no output lets the agent go on. It is plain JavaScript: not
 * every installed Node strips types.
 */
function hooksOf(entries: readonly Entry[]): JsonObject {
  const all = entries.flatMap((entry) => (entry.name === 'config' ? chosen(entry) : entry.name === 'code_extension' ? extended(entry) : []))
  const events = new Set(all.map(([event]) => event))
  return Object.fromEntries([...events].map((event) => [event, all.filter(([other]) => other === event).map(([, group]) => group)]))
}

function chosen({ config: { data } }: Entry): readonly Hook[] {
  const hooks = isObject(data) ? data['hooks'] : undefined
  return Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, groups]) =>
    Array.isArray(groups) ? groups.map((group: Json): Hook => [event, group]) : [],
  )
}

function extended({ config: { name } }: Entry): readonly Hook[] {
  const command = `node "$CLAUDE_CONFIG_DIR"/${quoted(`extensions/${typeof name === 'string' ? name : ''}.mjs`)}`
  return EVENTS.map((event) => [event, { hooks: [{ type: 'command', command }] }])
}

const quoted = (word: string): string => `'${word.replaceAll("'", () => `'\\''`)}'`
