/** opencode: files under `opencode/`, extensions as plugins, the model as a custom provider, a database as log. */
import { join } from 'node:path'
import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import {
  define,
  NO_TOKEN,
  type Adapter,
  type ConfigPatch,
  type Files,
  type Layout,
  type ModelAddress,
  isObject,
  type Json,
  type JsonObject,
} from '../../../src/contract/index.ts'
import {
  headed,
  modelName,
  printed,
  printJson,
  refuseModel,
  refuseOtherName,
  refuseUndescribed,
  requestsCommand,
  type HeadCheck,
} from '../../../src/harness/index.ts'
import { DEFAULTS, refuseForeignSettings, refuseReading } from './settings.ts'
import { POWERS } from './powers.ts'

const VERSION = '1.18.33'
const PROVIDER = 'svc'
const DATA = 'xdg/data'

const layout: Layout = {
  config: { primary: { path: 'opencode/opencode.json', defaults: DEFAULTS } },
  rules: 'opencode/AGENTS.md',
  named: {
    agent_command: 'opencode/commands/{name}.md',
    skill: 'opencode/skills/{name}/SKILL.md',
    code_extension: 'opencode/plugins/{name}.ts',
  },
}

/** No downloads. */
const OFFLINE = { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }

const opencode: Adapter = {
  name: 'opencode',
  binary: 'opencode',
  trajectory_format: 'opencode-session-sqlite',
  layout,
  powers: POWERS,
  bindings: {
    openai: (model) => bound('@ai-sdk/openai-compatible', model),
    responses: (model) => bound('@ai-sdk/openai', model),
    anthropic: (model) => bound('@ai-sdk/anthropic', model),
  },
  install: {
    manager: 'npm',
    package: 'opencode-ai',
    version: VERSION,
    binary_path: 'node_modules/.bin/opencode',
    lock: readFileSync(new URL('./package-lock.json', import.meta.url), 'utf8'),
    // Without AVX2, and without glibc, only the later ones start.
    native: ['', '-baseline', '-musl', '-baseline-musl'].map((kind) => `opencode-{os}-{cpu}${kind}/bin/opencode`),
  },
  client: {
    env: { OPENCODE_CONFIG_DIR: '{root}/opencode' },
    env_defaults: OFFLINE,
    // Its sessions are in the person's data folder.
    state: [],
    tools: [{ command: 'rg', package: 'ripgrep' }],
  },
  shipped: {
    requests: [requestsCommand('opencode', { words: 'Their request:\n\n$ARGUMENTS', how: 'with a time limit of 1800000 milliseconds' })],
  },

  finish(draft) {
    refuseForeignSettings(draft.entries)
    return { ...printed({ layout }, draft), ...headed({ layout }, draft, [checkHead]), ...NOTHING_TO_INSTALL }
  },

  /** Nobody can answer in an episode, so what is not denied is allowed. Both config folders are the same, so that no other is read. */
  launch: ({ prompt }, root) => ({
    argv: ['opencode', 'run', '--auto', '--format', 'json', '--title', 'episode', ...wordsOf(prompt)],
    env: {
      ...OFFLINE,
      HOME: root,
      OPENCODE_CONFIG_DIR: join(root, 'opencode'),
      XDG_CONFIG_HOME: root,
      XDG_DATA_HOME: join(root, DATA),
      XDG_STATE_HOME: join(root, 'xdg/state'),
      XDG_CACHE_HOME: join(root, 'xdg/cache'),
    },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readSessions(join(root, DATA)),
}

export default define('adapter', opencode)

function bound(npm: string, address: ModelAddress): readonly ConfigPatch[] {
  const { url, apiKey } = address
  const name = refuseReading(modelName('opencode', address))
  const provider = { npm, options: { baseURL: `${url}/v1`, apiKey: apiKey ?? NO_TOKEN }, models: { [name]: {} } }
  const asked = `${PROVIDER}/${name}`
  return [{ target: 'primary', data: { model: asked, small_model: asked, provider: { [PROVIDER]: provider } } }]
}

/** It silently skips a skill without a name or description. */
const checkHead: HeadCheck = (entry, head) => {
  if (entry.name === 'agent_command') return refuseModel(entry, head)
  refuseOtherName(entry, { name: null, ...head })
  refuseUndescribed(entry, head)
}

/** Without these files opencode installs packages into every config folder, which takes over a minute without a network. */
const NOTHING_TO_INSTALL: Files = {
  'opencode/package-lock.json': printJson({ packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } }),
  'opencode/node_modules/.keep': '',
}

/**
 * opencode joins the prompt's arguments with spaces, after quoting those that hold a space and converting those that look like numbers. So
 * each word is passed alone as an option's value, which does neither; the option's parser removes the quotes.
 */
const wordsOf = (prompt: string): readonly string[] => prompt.split(' ').map((word) => `--message="${word}"`)

/** Each message in order, with its parts as content; none where there is no log. */
async function readSessions(dataFolder: string): Promise<readonly JsonObject[]> {
  const path = join(dataFolder, 'opencode/opencode.db')
  if (!existsSync(path)) return []
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return hasMessages(database) ? messagesIn(database) : []
  } finally {
    database.close()
  }
}

/** An agent killed at its start leaves a database without tables. */
function hasMessages(database: DatabaseSync): boolean {
  const { tables } = database.prepare(`SELECT count(*) AS tables FROM sqlite_master WHERE name IN ('message', 'part')`).get() ?? {}
  return tables === 2
}

function messagesIn(database: DatabaseSync): readonly JsonObject[] {
  const messages = database.prepare('SELECT id, session_id, data FROM message ORDER BY time_created, id').all()
  const parts = database.prepare('SELECT id, data FROM part WHERE message_id = ? ORDER BY id')
  return messages.map(({ id, session_id, data }) => ({
    ...objectFrom(data),
    id: String(id),
    session_id: String(session_id),
    content: parts.all(String(id)).map((part) => ({ ...objectFrom(part['data']), id: String(part['id']) })),
  }))
}

function objectFrom(text: unknown): JsonObject {
  const value: Json = JSON.parse(String(text))
  if (isObject(value)) return value
  throw new Error('a row of the session log of opencode is not a JSON object')
}
