/** The agent opencode: its files under `opencode/`, its extensions as plugins, its model behind a provider of our own, its log as a database. */
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

/** Nothing is fetched but what the model is asked. */
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
    // Its sessions are in its data folder, which is the person's own.
    state: [],
    tools: [{ command: 'rg', package: 'ripgrep' }],
  },
  shipped: {
    requests: [requestsCommand('opencode', { words: 'Their request:\n\n$ARGUMENTS', how: 'with a time limit of 1800000 milliseconds' })],
  },

  /** With a head of ours, a text that begins like a head of another kind is body: opencode would take `---js` for one written as code, and run it. */
  finish(draft) {
    refuseForeignSettings(draft.entries)
    return { ...printed({ layout }, draft), ...headed({ layout }, draft, [checkHead]), ...NOTHING_TO_INSTALL }
  },

  /** The config folder is named twice and is the same, so that no second one is looked at. With a title, opencode does not ask a model for one. */
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

/** It leaves out, without a word, a skill that lacks a name or a description. */
const checkHead: HeadCheck = (entry, head) => {
  if (entry.name === 'agent_command') return refuseModel(entry, head)
  refuseOtherName(entry, { name: null, ...head })
  refuseUndescribed(entry, head)
}

/** opencode installs packages for plugins into every config folder, for over a minute where there is no network, unless these say it did. */
const NOTHING_TO_INSTALL: Files = {
  'opencode/package-lock.json': printJson({ packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } }),
  'opencode/node_modules/.keep': '',
}

/**
 * opencode joins the words of a prompt with blanks, after it has put a word that holds a blank into quotes and made a number of one that looks
 * like it. So each word goes alone, as the value of an option, which is neither; the quotes around it are those that the option's reader takes off.
 */
const wordsOf = (prompt: string): readonly string[] => prompt.split(' ').map((word) => `--message="${word}"`)
