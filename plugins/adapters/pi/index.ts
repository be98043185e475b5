/** pi: files under `pi-agent/`, the model in `models.json`, JSON lines as log. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  define,
  NO_TOKEN,
  type Adapter,
  type ConfigPatch,
  type Layout,
  type ModelAddress,
  type Entry,
} from '../../../src/contract/index.ts'
import { headed, modelName, piAiBindings, printed, readJsonLines, refuseUndescribed, type HeadCheck } from '../../../src/harness/index.ts'
import { refuseForeignSettings } from './settings.ts'
import { POWERS } from './powers.ts'

const versionCheck = readFileSync(new URL('./entries/svc-version-check.mjs', import.meta.url), 'utf8')
const requests = readFileSync(new URL('./entries/svc-requests.mjs', import.meta.url), 'utf8')
const extensionApi = readFileSync(new URL('./entries/svc-pi-extension-api.md', import.meta.url), 'utf8')

/** Shipped entries for pi; their texts are separate files. */
const shipped: Required<Adapter>['shipped'] = {
  version_check: [extension('svc-version-check', versionCheck)],
  requests: [
    extension('svc-requests', requests),
    { id: 'svc-pi-extension-api', name: 'skill', config: { name: 'svc-pi-extension-api', text: extensionApi } },
  ],
}

const VERSION = '0.87.1'
const PROVIDER = 'svc'
const SESSIONS = 'sessions'

const layout: Layout = {
  config: {
    primary: {
      path: 'pi-agent/settings.json',
      // The version whose changelog was shown last: without it, pi rewrites this file on the first start.
      defaults: { enableAnalytics: false, enableInstallTelemetry: false, lastChangelogVersion: VERSION },
    },
    // pi rejects a file without `providers`.
    models: { path: 'pi-agent/models.json', defaults: { providers: {} } },
  },
  rules: 'pi-agent/AGENTS.md',
  named: {
    agent_command: 'pi-agent/prompts/{name}.md',
    skill: 'pi-agent/skills/{name}/SKILL.md',
    code_extension: 'pi-agent/extensions/{name}.ts',
  },
}

const pi: Adapter = {
  name: 'pi',
  binary: 'pi',
  trajectory_format: 'pi-session-jsonl',
  layout,
  powers: POWERS,
  bindings: piAiBindings(bound),
  install: {
    manager: 'npm',
    package: '@earendil-works/pi-coding-agent',
    version: VERSION,
    binary_path: 'node_modules/.bin/pi',
    node_least: '22.19',
    lock: readFileSync(new URL('./package-lock.json', import.meta.url), 'utf8'),
  },
  client: {
    env: { PI_CODING_AGENT_DIR: '{root}/pi-agent' },
    env_defaults: { PI_SKIP_VERSION_CHECK: '1' },
    // Not its own programs: a session could leave one that the next release runs.
    state: ['pi-agent/sessions/', 'pi-agent/auth.json', 'pi-agent/models-store.json', 'pi-agent/trust.json'],
    takes: { memory: { from: '.pi/agent/AGENTS.md', to: 'pi-agent/AGENTS.md' } },
    tools: [
      { command: 'rg', package: 'ripgrep' },
      { command: 'fd', package: 'fd-find' },
    ],
  },
  shipped,

  finish(draft) {
    refuseForeignSettings(draft.entries)
    return { ...printed({ layout }, draft), ...headed({ layout }, draft, [checkHead]) }
  },

  launch: ({ prompt }, root) => ({
    argv: ['pi', '--mode', 'json', '-p', '--', asMessage(prompt)],
    env: {
      PI_CODING_AGENT_DIR: join(root, 'pi-agent'),
      PI_CODING_AGENT_SESSION_DIR: join(root, SESSIONS),
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_TELEMETRY: '0',
    },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readJsonLines(join(root, SESSIONS)),
}

export default define('adapter', pi)

/** It leaves out a skill without a description; it lists a command by its first line. */
const checkHead: HeadCheck = (entry, head) => {
  if (entry.name === 'skill') refuseUndescribed(entry, head)
}

function bound(api: string, baseUrl: string, address: ModelAddress): readonly ConfigPatch[] {
  const model = modelName('pi', address)
  const provider = { api, apiKey: literal(address.apiKey ?? NO_TOKEN), baseUrl, models: [{ id: model }] }
  return [
    { target: 'models', data: { providers: { [PROVIDER]: provider } } },
    { target: 'primary', data: { defaultProvider: PROVIDER, defaultModel: model } },
  ]
}

/** pi expands `$NAME` in a key and runs a leading `!` as a command, so both are escaped. */
const literal = (key: string): string => key.replaceAll('$', () => '$$').replace(/^!/, () => '$!')

/** pi treats a leading @ as a file to attach. */
const asMessage = (prompt: string): string => (prompt.startsWith('@') ? ` ${prompt}` : prompt)

function extension(name: string, code: string): Entry {
  return { id: name, name: 'code_extension', config: { name, code } }
}
