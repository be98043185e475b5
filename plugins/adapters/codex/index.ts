/** Codex: files under `codex/`, settings as TOML, commands as skills called by `$name`, JSON lines as log. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  define,
  invalid,
  NO_TOKEN,
  type Adapter,
  type Entry,
  type JsonObject,
  type Layout,
  type ModelAddress,
} from '../../../src/contract/index.ts'
import { headed, readJsonLines, refuseUndescribed, requestsCommand } from '../../../src/harness/index.ts'
import { DEFAULTS, refuseForeignSettings } from './settings.ts'
import { printToml } from './toml.ts'
import { POWERS } from './powers.ts'

const VERSION = '0.169.0'
const PROVIDER = 'svc'
const SETTINGS = 'codex/config.toml'
/** No repository needed, no approvals, and no endless retries. */
const UNATTENDED = '--skip-git-repo-check -c approval_policy="never" --disable unbounded_connection_retries'
/** Its own sandbox is bubblewrap too, which cannot be nested. */
const sandboxMode = (contained: boolean): string => (contained ? 'danger-full-access' : 'workspace-write')

const layout: Layout = {
  config: { primary: { path: SETTINGS, defaults: DEFAULTS } },
  rules: 'codex/AGENTS.md',
  // No code_extension: hooks run outside the agent's own sandbox.
  named: { agent_command: 'codex/skills/{name}/SKILL.md', skill: 'codex/skills/{name}/SKILL.md' },
}

const codex: Adapter = {
  name: 'codex',
  binary: 'codex',
  trajectory_format: 'codex-session-jsonl',
  layout,
  powers: POWERS,
  bindings: { responses: (model) => [{ target: 'primary', data: bindingOf(model) }] },
  install: {
    manager: 'npm',
    package: '@openai/codex',
    version: VERSION,
    binary_path: 'node_modules/.bin/codex',
    lock: readFileSync(new URL('./package-lock.json', import.meta.url), 'utf8'),
  },
  client: {
    env: { CODEX_HOME: '{root}/codex', CODEX_SQLITE_HOME: '{root}/codex/sqlite' },
    env_defaults: {},
    state: ['codex/sessions/', 'codex/archived_sessions/', 'codex/sqlite/', 'codex/memories/', 'codex/history.jsonl'],
    takes: { memory: { from: '.codex/AGENTS.md', to: 'codex/AGENTS.md' } },
    tools: [{ command: 'rg', package: 'ripgrep' }],
  },
  shipped: {
    requests: [
      requestsCommand('codex', {
        words: 'Their request is what they wrote together with `$svc`.',
        how: 'outside the sandbox, since it needs the network',
      }),
    ],
  },

  finish(draft) {
    refuseForeignSettings(draft.entries)
    refuseLongNames(draft.entries)
    const skills = headed({ layout }, draft, [refuseUndescribed])
    return { ...draft.files, ...skills, [SETTINGS]: printToml(draft.config['primary'] ?? {}) }
  },

  launch: ({ prompt, contained = false }, root) => ({
    argv: ['codex', 'exec', '--json', '--sandbox', sandboxMode(contained), ...UNATTENDED.split(' '), '--', prompt],
    env: { HOME: root, CODEX_HOME: join(root, 'codex'), CODEX_SQLITE_HOME: join(root, 'codex/sqlite') },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readJsonLines(join(root, 'codex/sessions')),
}

export default define('adapter', codex)

const NAME_CHARACTERS_MAX = 64

/** Codex leaves out a skill with a longer one. */
function refuseLongNames(entries: readonly Entry[]): void {
  for (const { id, name, config } of entries)
    if (name !== 'config' && typeof config['name'] === 'string' && config['name'].length > NAME_CHARACTERS_MAX)
      throw invalid('bad_entry', `${id}: config.name must be at most ${NAME_CHARACTERS_MAX} characters; choose a shorter one`)
}

/** The built-in provider would try WebSockets first and use the person's key; a custom provider does neither. */
function bindingOf({ url, model, apiKey }: ModelAddress): JsonObject {
  const provider = {
    name: PROVIDER,
    base_url: `${url}/v1`,
    wire_api: 'responses',
    supports_websockets: false,
    experimental_bearer_token: apiKey ?? NO_TOKEN,
  }
  return { model_provider: PROVIDER, model_providers: { [PROVIDER]: provider }, ...(model !== null && { model }) }
}
