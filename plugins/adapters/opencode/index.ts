/** opencode: files under `opencode/`, extensions as plugins, the model as a custom provider, a database as log. */
import { join } from 'node:path'
import {
  define,
  NO_TOKEN,
  type Adapter,
  type ConfigPatch,
  type Files,
  type Layout,
  type ModelAddress,
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
import { DEFAULTS, refuseForeignSettings } from './settings.ts'
import { readSessions } from './trajectory.ts'

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
  bindings: {
    openai: (model) => bound('@ai-sdk/openai-compatible', model),
    responses: (model) => bound('@ai-sdk/openai', model),
    anthropic: (model) => bound('@ai-sdk/anthropic', model),
  },
  install: { manager: 'npm', package: 'opencode-ai', version: VERSION, binary_path: 'node_modules/.bin/opencode' },
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

  /** Our front matter makes a `---js` head plain text: opencode would run it as code. */
  finish(draft) {
    refuseForeignSettings(draft.entries)
    return { ...printed({ layout }, draft), ...headed({ layout }, draft, [checkHead]), ...NOTHING_TO_INSTALL }
  },

  /** Both config folders are the same, so that no other is read. With a title, opencode does not ask a model for one. */
  launch: ({ prompt }, root) => ({
    argv: ['opencode', 'run', '--format', 'json', '--title', 'episode', ...wordsOf(prompt)],
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
  const name = modelName('opencode', address)
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
