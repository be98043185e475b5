/** Terminus, Terminal-Bench's agent: settings are its constructor arguments, the prompt is a task of the benchmark. */
import { join } from 'node:path'
import { z } from 'zod'
import {
  define,
  NO_TOKEN,
  type Adapter,
  type ConfigPatch,
  type Layout,
  type ModelAddress,
  isObject,
  type Json,
  type JsonObject,
  type Entry,
} from '../../../src/contract/index.ts'
import {
  between,
  BOUNDS,
  every,
  headed,
  modelName,
  printed,
  isList,
  readDocuments,
  refuseOthers,
  settings,
  settingsIn,
  shareBetween,
} from '../../../src/harness/index.ts'
import { POWERS } from './powers.ts'

const flag = z.boolean()
const penalty = shareBetween(-2, 2)
const share = shareBetween(0, 1)
const text = z.string()

const SETTINGS = settings({
  ...every(flag, 'enable_summarize', 'interleaved_thinking'),
  max_thinking_tokens: BOUNDS.budgetTokens,
  max_turns: BOUNDS.rounds,
  proactive_summarization_threshold: BOUNDS.tokens,
  parser_name: z.enum(['json', 'xml']),
  reasoning_effort: text,
  temperature: shareBetween(0, 2),
  // Other arguments may name another model, address or headers.
  llm_call_kwargs: settings({
    ...every(penalty, 'frequency_penalty', 'presence_penalty'),
    ...every(share, 'min_p', 'top_p'),
    ...every(shareBetween(0, 2), 'repetition_penalty', 'temperature'),
    ...every(BOUNDS.tokens, 'max_completion_tokens', 'max_tokens'),
    seed: between(0, Number.MAX_SAFE_INTEGER),
    top_k: between(0, 1_000),
    reasoning_effort: text,
    stop: z.union([text, z.array(text)], { error: 'it is a text or a list of texts' }),
    thinking: settings({ type: z.enum(['enabled', 'disabled']), budget_tokens: BOUNDS.budgetTokens }),
  }),
})

const layout: Layout = {
  config: { primary: { path: 'terminus/config.json' } },
  rules: 'terminus/AGENTS.md',
  named: { agent_command: 'terminus-commands/{name}/SKILL.md', skill: 'terminus/skills/{name}/SKILL.md' },
}

const terminus: Adapter = {
  name: 'terminus',
  trajectory_format: 'terminus-atif-json',
  layout,
  powers: POWERS,
  bindings: { openai: bound },

  finish(draft) {
    refuseForeignSettings(draft.entries)
    return { ...printed({ layout }, draft), ...headed({ layout }, draft) }
  },

  /** The prompt names a task; the operator's program gets the root that holds skills and commands. */
  launch: ({ prompt }, root) => ({
    argv: ['terminus', '--task', prompt],
    env: { SVC_TERMINUS_DIR: root },
    timeoutSeconds: 600,
  }),

  readTrajectory: (root) => readRuns(join(root, 'terminus/runs')),
}

export default define('adapter', terminus)

/** It uses LiteLLM, where the prefix of a model name selects the format. */
function bound(address: ModelAddress): readonly ConfigPatch[] {
  const model_name = `openai/${modelName('terminus', address)}`
  const llm_kwargs = { api_key: address.apiKey ?? NO_TOKEN }
  return [{ target: 'primary', data: { model_name, api_base: `${address.url}/v1`, llm_kwargs } }]
}

/** Per run the result, then the steps, in path order. */
async function readRuns(folder: string): Promise<readonly JsonObject[]> {
  return (await readDocuments(folder)).flatMap(([path, run]) => eventsOf(path, run))
}

function eventsOf(path: string, run: Json): readonly JsonObject[] {
  const steps = isObject(run) ? run['steps'] : undefined
  if (!isObject(run) || !isList(steps) || !steps.every(isObject)) throw new Error(`the run ${path} has no list of steps`)
  const verdict = isObject(run['verifier']) ? run['verifier'] : {}
  return [{ ...verdict, type: 'verifier' }, ...steps.map((step) => ({ ...step, type: 'step' }))]
}

/** The settings of Terminus that a tree may set: never the model or its address. */
function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) refuseOthers(setting, SETTINGS)
}
