/** A tree with changes, for a trial: the entries of `tree.json` with some mutations, as the files that the agent reads. */
import { field, parseJson, Failure, type TreeFiles } from '@svc-ai/client/shared'
import { isData } from './fields.ts'
import type { Data } from './tree.ts'

export interface TrialEntry {
  readonly id: string
  readonly name: string
  readonly config: Data
  readonly disabled?: boolean
}

/** Throws when the text is no list of entries. */
export function entriesIn(text: string | null): readonly TrialEntry[] {
  const entries = text === null ? null : parseJson(text)
  if (Array.isArray(entries) && entries.every(isEntry)) return entries
  throw new Failure('this tree does not say what it was made of: tree.json is missing or no list of entries')
}

const isEntry = (value: unknown): value is TrialEntry =>
  typeof field(value, 'id') === 'string' && typeof field(value, 'name') === 'string' && isData(field(value, 'config'))

/** As the service applies them; whether they would be admitted it alone can say. */
export function mutated(entries: readonly TrialEntry[], mutations: readonly unknown[]): readonly TrialEntry[] {
  return mutations.reduce<readonly TrialEntry[]>(applied, entries)
}

function applied(entries: readonly TrialEntry[], mutation: unknown): readonly TrialEntry[] {
  const [op, id, options] = [field(mutation, 'op'), field(mutation, 'id'), field(mutation, 'options')]
  if (typeof id !== 'string') throw new Failure('each mutation needs an id')
  const old = entries.find((entry) => entry.id === id)
  if (op === 'remove' && old !== undefined) return entries.filter((entry) => entry !== old)
  const entry = isData(options) ? { id, ...old, ...options } : null
  if (entry === null || !isEntry(entry)) throw new Failure(`${id}: options must hold name and config`)
  if (op === 'create' && old === undefined) return [...entries, entry]
  if (op === 'update' && old !== undefined) return entries.map((each) => (each === old ? entry : each))
  throw new Failure(`${id}: op must be create for an id that is not there, update or remove for one that is`)
}

const FOLDERS: Readonly<Record<string, string>> = {
  native_tool: 'tools',
  native_hook: 'hooks',
  native_loop: 'loops',
  native_agent: 'agents',
  native_graph: 'graphs',
}

export function filesOf(entries: readonly TrialEntry[]): TreeFiles {
  const inForce = entries.filter(({ disabled }) => disabled !== true)
  const rules = inForce.filter(({ name }) => name === 'rules').map(({ config }) => String(config['text']).trim())
  const settings = inForce
    .filter(({ name, config }) => name === 'config' && config['target'] === 'models')
    .map(({ config }) => config['data'])
  return {
    'native/AGENTS.md': `${rules.join('\n\n')}\n`,
    'native/models.json': JSON.stringify(Object.assign({}, ...settings.filter(isData))),
    ...Object.fromEntries(inForce.flatMap(filesOfEntry)),
  }
}

function filesOfEntry({ name: kind, config }: TrialEntry): readonly (readonly [string, string])[] {
  const name = String(config['name'])
  if (kind === 'skill') return [[`native/skills/${name}/SKILL.md`, String(config['text'])]]
  const folder = Object.hasOwn(FOLDERS, kind) ? FOLDERS[kind] : undefined
  if (folder === undefined) return []
  const { code, ...said } = config
  const declaration = [`native/${folder}/${name}.json`, JSON.stringify(said)] as const
  return typeof code === 'string' ? [declaration, [`native/${folder}/${name}.ts`, code]] : [declaration]
}
