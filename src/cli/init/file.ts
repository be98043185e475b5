/** The text of a configuration file: chosen values are set, other common keys are comments with the schema's descriptions. */
import { stringify } from 'yaml'
import { allKeys } from '../../config/index.ts'
import { ENV, PRODUCT } from '../../contract/index.ts'

/** In the order of the file. docs/configuration.md has all keys. */
const USUAL: readonly string[] = [
  'svc.host',
  'svc.port',
  'svc.token',
  'inference.runtime',
  'inference.upstream_url',
  'inference.upstream_model',
  'inference.upstream_api',
  'inference.upstream_api_key',
  'storage.agent_record_dir',
  'storage.artifact_repository',
  'storage.record_capacity_bytes',
  'recipe',
  'data.training_mode',
  'evolution.adapter',
  'evolution.tasks',
  'evolution.tasks_dir',
  'evolution.proposer',
  'evolution.evaluator',
  'evolution.executor',
  'evolution.publish',
  'evolution.max_steps',
]

const EXAMPLES: Readonly<Record<string, unknown>> = {
  'svc.token': `\${${ENV.token}}`,
  'inference.runtime': 'practice',
  'inference.upstream_url': 'https://api.example.com',
  'inference.upstream_model': 'a-model',
  'inference.upstream_api_key': `\${${ENV.upstreamApiKey}}`,
  'evolution.tasks': [{ name: 'vat', prompt: 'An item costs 40 net at 19 % VAT. What is the gross price?', answer: '47.6' }],
  'evolution.tasks_dir': 'tasks',
  'evolution.executor': 'sandbox',
}

export function fileText(summary: string, settings: Readonly<Record<string, unknown>>): string {
  const keys = allKeys()
  const sections = Map.groupBy(USUAL, (path) => path.split('.', 1).join(''))
  const blocks = [...sections].map(([section, paths]) => {
    const lines = paths.map((path) => keyLines(path, settings, keys))
    return section === paths[0] ? lines.join('\n') : [`${section}:`, ...lines].join('\n')
  })
  return `${[HEAD(summary), ...blocks].join('\n\n')}\n`
}

const HEAD = (summary: string): string => `# Written by \`${PRODUCT} init\`: ${summary}.
# Commented lines are defaults, or examples where there is none. docs/configuration.md has every key; \`${PRODUCT} config schema\` is for
# your editor, \`${PRODUCT} doctor -c FILE\` says what is still missing.`

/** A key below its description, commented out unless it was chosen. */
function keyLines(path: string, settings: Readonly<Record<string, unknown>>, keys: ReturnType<typeof allKeys>): string {
  const [section = '', name = section] = path.split('.')
  const key = keys.find((each) => each.key === path)
  const isChosen = Object.hasOwn(settings, path)
  const value = isChosen ? settings[path] : (EXAMPLES[path] ?? key?.default)
  const lines = stringify({ [name]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
  const indent = path.includes('.') ? '  ' : ''
  // The reference page explains more below its tables; this file does not.
  const explained = `# ${(key?.description ?? '').replace(', see below', '')}`
  return [explained, ...lines.map((line) => (isChosen ? line : `# ${line}`))].map((line) => indent + line).join('\n')
}
