/** The agent pi: its files under `pi-agent/`, its model in `models.json`, its session log as JSON lines. */
import { join } from 'node:path'
import {
  define,
  invalid,
  NO_TOKEN,
  type Adapter,
  type ConfigPatch,
  type Draft,
  type Files,
  type Layout,
  type ModelAddress,
} from '../../../src/contract/index.ts'
import { printed, readJsonLines } from '../../../src/harness/index.ts'
import { refuseForeignSettings } from './settings.ts'
import { shipped } from './shipped.ts'
import { headed } from './heads.ts'

const VERSION = '0.87.1'
const PROVIDER = 'svc'
const SESSIONS = 'sessions'

const layout: Layout = {
  config: {
    primary: {
      path: 'pi-agent/settings.json',
      // The version it last told the news of: without it, pi writes this file again when a person first starts it.
      defaults: { enableAnalytics: false, enableInstallTelemetry: false, lastChangelogVersion: VERSION },
    },
    // pi takes a file without `providers` for a broken one.
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
  bindings: {
    openai: (model) => bound('openai-completions', `${model.url}/v1`, model),
    responses: (model) => bound('openai-responses', `${model.url}/v1`, model),
    anthropic: (model) => bound('anthropic-messages', model.url, model),
  },
  install: {
    manager: 'npm',
    package: '@earendil-works/pi-coding-agent',
    version: VERSION,
    binary_path: 'node_modules/.bin/pi',
    node_least: '22.19',
  },
  client: {
    env: { PI_CODING_AGENT_DIR: '{root}/pi-agent' },
    env_defaults: { PI_SKIP_VERSION_CHECK: '1' },
    state: ['pi-agent/sessions/', 'pi-agent/bin/', 'pi-agent/auth.json', 'pi-agent/models-store.json', 'pi-agent/trust.json'],
    tools: [
      { command: 'rg', package: 'ripgrep' },
      { command: 'fd', package: 'fd-find' },
    ],
  },
  shipped,

  finish(draft: Draft): Files {
    refuseForeignSettings(draft.entries)
    return { ...printed({ layout }, draft), ...headed(draft) }
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

function bound(api: string, baseUrl: string, { model, apiKey }: ModelAddress): readonly ConfigPatch[] {
  if (model === null)
    throw invalid('model_missing', "pi asks for a model by its name: set inference.upstream_model, or the scenario's model.model")
  const provider = { api, apiKey: literal(apiKey ?? NO_TOKEN), baseUrl, models: [{ id: model }] }
  return [
    { target: 'models', data: { providers: { [PROVIDER]: provider } } },
    { target: 'primary', data: { defaultProvider: PROVIDER, defaultModel: model } },
  ]
}

/** pi reads `$NAME` in a key as a variable and a leading `!` as a command to run; a key is neither. */
const literal = (key: string): string => key.replaceAll('$', () => '$$').replace(/^!/, () => '$!')

/** pi reads a word that begins with @ as the name of a file to attach. */
const asMessage = (prompt: string): string => (prompt.startsWith('@') ? ` ${prompt}` : prompt)
