/** The service's own agent: everything it does is an entry of the tree, and all its files are under `native/`. */
import { join } from 'node:path'
import { define, NO_TOKEN, type Adapter, type Entry, type JsonObject, type Layout } from '../../../src/contract/index.ts'
import { between, headed, printed, printJson, readJsonLines, refuseOthers, settings, settingsIn } from '../../../src/harness/index.ts'
import { seed } from './seed.ts'
import { POWERS } from './powers.ts'

const layout: Layout = {
  config: { primary: { path: 'native/config.json' }, models: { path: 'native/models.json' } },
  rules: 'native/AGENTS.md',
  named: {
    skill: 'native/skills/{name}/SKILL.md',
    native_tool: 'native/tools/{name}.ts',
    native_hook: 'native/hooks/{name}.ts',
    native_agent: 'native/agents/{name}.json',
    native_graph: 'native/graphs/{name}.json',
    native_loop: 'native/loops/{name}.ts',
  },
  tree: 'native/tree.json',
}

/** The model settings that a tree may set. */
const SETTINGS = settings({ context_window: between(1_000, 10_000_000) })

const native: Adapter = {
  name: 'native',
  binary: 'svc-native',
  trajectory_format: 'native-jsonl',
  layout,
  powers: POWERS,
  bindings: {
    openai: ({ url, model, apiKey }) => [
      { target: 'models', data: { api: 'openai', base_url: `${url}/v1`, api_key: apiKey ?? NO_TOKEN, model } },
    ],
  },

  seed,

  finish(draft) {
    for (const setting of settingsIn(draft.entries)) refuseOthers(setting, SETTINGS)
    return {
      ...printed({ layout }, draft),
      ...headed({ layout }, draft),
      ...Object.fromEntries(draft.entries.flatMap(declarationOf)),
    }
  },

  launch: ({ prompt }, root) => ({
    argv: ['svc-native', '-p', prompt],
    env: { SVC_NATIVE_DIR: join(root, 'native') },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readJsonLines(join(root, 'native/sessions')),
}

export default define('adapter', native)

/** The folder of each kind's modules, and the defaults of its entries. */
const MODULES: Readonly<Record<string, { readonly folder: string; readonly unsaid: JsonObject }>> = {
  native_tool: { folder: 'native/tools', unsaid: { parameters: {}, capabilities: [] } },
  native_hook: { folder: 'native/hooks', unsaid: {} },
  native_loop: { folder: 'native/loops', unsaid: { max_steps: 12 } },
}

/** The declaration of a module is a file beside its code, so that the code cannot change it. */
function declarationOf({ name: kind, config }: Entry): readonly (readonly [string, string])[] {
  const modules = MODULES[kind]
  const { code: _code, ...said } = config
  if (modules === undefined || typeof said['name'] !== 'string') return []
  return [[`${modules.folder}/${said['name']}.json`, printJson({ ...modules.unsaid, ...said })]]
}
