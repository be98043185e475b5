/** Hermes: home `hermes/`, settings as YAML, commands as skills in a separate folder. */
import { join } from 'node:path'
import {
  define,
  NO_TOKEN,
  type Adapter,
  type ConfigPatch,
  type Layout,
  type ModelAddress,
  type Draft,
  type Files,
  type Json,
  type JsonObject,
  isObject,
} from '../../../src/contract/index.ts'
import { modelName, requestsCommand, headed, isList, printYaml, readDocuments } from '../../../src/harness/index.ts'
import { refuseForeignSettings } from './settings.ts'
import { POWERS } from './powers.ts'

const layout: Layout = {
  config: {
    primary: {
      path: 'hermes/config.yaml',
      defaults: {
        // No model call for session titles.
        auxiliary: { title_generation: { enabled: false } },
        memory: { nudge_interval: 0 },
        // No download of its scanner.
        security: { tirith_enabled: false },
        // Otherwise there is only a database, and no trajectory to read.
        sessions: { write_json_snapshots: true },
        skills: { external_dirs: ['${HERMES_HOME}/../hermes-commands'] },
      },
    },
  },
  rules: 'hermes/SOUL.md',
  named: {
    agent_command: 'hermes-commands/{name}/SKILL.md',
    skill: 'hermes/skills/{name}/SKILL.md',
    code_extension: 'hermes/plugins/{name}/__init__.py',
  },
}

const hermes: Adapter = {
  name: 'hermes',
  binary: 'hermes',
  trajectory_format: 'hermes-session-json',
  layout,
  powers: POWERS,
  bindings: { openai: bound },
  install: {
    manager: 'git',
    package: 'hermes-agent',
    version: '0.21.0',
    binary_path: 'venv/bin/hermes',
    repository: 'https://github.com/NousResearch/hermes-agent',
    ref: 'v2026.8.31',
    commit: '29112bef099274229cadff79cdff7bf7b99c4b77',
  },
  client: {
    env: { HERMES_HOME: '{root}/hermes' },
    env_defaults: {},
    state: ['hermes/state.db', 'hermes/memories/', 'hermes/sessions/'],
    takes: {},
    tools: [{ command: 'rg', package: 'ripgrep' }],
  },
  shipped: { requests: [requestsCommand('hermes', { words: "Their request is what stands after the command's name." })] },
  finish: finishHermes,

  /** `--` and the like protect a prompt that begins like an option. */
  launch: ({ prompt }, root) => ({
    argv: ['hermes', 'chat', '-Q', '--oneshot', '-q', prompt.startsWith('-') ? ` ${prompt}` : prompt],
    env: { HOME: root, HERMES_HOME: join(root, 'hermes') },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readSnapshots(join(root, 'hermes/sessions')),
}

export default define('adapter', hermes)

/** The key is only in the settings: a variable that Hermes knows would be sent to the provider of that name. */
function bound(address: ModelAddress): readonly ConfigPatch[] {
  const model = { provider: 'custom:svc', default: modelName('hermes', address) }
  const svc = { base_url: `${address.url}/v1`, api_key: address.apiKey ?? NO_TOKEN, api_mode: 'chat_completions' }
  return [{ target: 'primary', data: { model, providers: { svc } } }]
}

/** Renders a tree for Hermes: YAML, front matter on every skill, and a manifest and permission for every plug-in. */
function finishHermes(draft: Draft): Files {
  const { config, files, entries } = draft
  const { primary = {} } = config
  refuseForeignSettings(entries)
  const plugins = Object.keys(files).flatMap((path) => /^hermes\/plugins\/([^/]+)\//.exec(path)?.[1] ?? [])
  return {
    'hermes/config.yaml': printYaml(withPlugins(primary, plugins)),
    // Otherwise it copies its own skills into the tree on the first start.
    'hermes/.no-bundled-skills': '',
    ...files,
    ...headed({ layout }, draft),
    ...Object.fromEntries(plugins.map((name) => [`hermes/plugins/${name}/plugin.yaml`, printYaml({ name, version: '1.0.0' })])),
  }
}

/** Hermes loads user plug-ins only by name, and lets them replace tools only with permission. */
function withPlugins(settings: JsonObject, names: readonly string[]): JsonObject {
  if (names.length === 0) return settings
  const entries = Object.fromEntries(names.map((name) => [name, { allow_tool_override: true }]))
  return { ...settings, plugins: { enabled: names, entries } }
}

/** Per session its metadata, then its messages, in path order. */
async function readSnapshots(folder: string): Promise<readonly JsonObject[]> {
  return (await readDocuments(folder)).flatMap(([path, document]) => eventsOf(path, document))
}

/** The folder also holds indexes and request dumps, which have no messages. */
function eventsOf(path: string, document: Json): readonly JsonObject[] {
  if (!isObject(document)) throw new Error(`the session ${path} is not a JSON object`)
  const { messages, ...session } = document
  if (!isList(messages)) return []
  if (!messages.every(isObject)) throw new Error(`the session ${path} has a message that is not a JSON object`)
  return [{ ...session, type: 'session' }, ...messages.map((message) => ({ ...message, type: 'message' }))]
}
