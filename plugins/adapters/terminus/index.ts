/** Terminus, the agent of Terminal-Bench: its settings are the arguments it is constructed with, its prompt a task of the benchmark. */
import { basename, dirname, join } from 'node:path'
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
import { printed, withFrontMatter } from '../../../src/harness/index.ts'
import { readRuns } from './runs.ts'
import { refuseForeignSettings } from './settings.ts'

const layout: Layout = {
  config: { primary: { path: 'terminus/config.json' } },
  rules: 'terminus/AGENTS.md',
  named: { agent_command: 'terminus-commands/{name}/SKILL.md', skill: 'terminus/skills/{name}/SKILL.md' },
}

const terminus: Adapter = {
  name: 'terminus',
  binary: 'svc-terminus',
  trajectory_format: 'terminus-atif-json',
  layout,
  bindings: { openai: bound },

  finish(draft: Draft): Files {
    refuseForeignSettings(draft.entries)
    return printed({ layout }, { ...draft, files: headed(draft.files) })
  },

  /** The prompt names a task; skills and commands lie in two folders, so the program is told the root of both. */
  launch: ({ prompt }, root) => ({
    argv: ['svc-terminus', '--task', prompt],
    env: { SVC_TERMINUS_DIR: root },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readRuns(join(root, 'terminus/runs')),
}

export default define('adapter', terminus)

/** It asks through LiteLLM, which takes what stands before the first slash of a model's name for the format to speak. */
function bound({ url, model, apiKey }: ModelAddress): readonly ConfigPatch[] {
  if (model === null)
    throw invalid('model_missing', "terminus asks for a model by its name: set inference.upstream_model, or the scenario's model.model")
  const data = { model_name: `openai/${model}`, api_base: `${url}/v1`, llm_kwargs: { api_key: apiKey ?? NO_TOKEN } }
  return [{ target: 'primary', data }]
}

const headed = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, path.endsWith('/SKILL.md') ? withFrontMatter(basename(dirname(path)), text) : text]),
  )
