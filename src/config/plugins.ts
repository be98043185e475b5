/** Loads a plug-in by its configured name: a built-in name, a path, or a package, each with an optional `#export`. */
import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CONTRACT, isRefusal, type JsonObject, type Kind, type Kinds, type Plugin, type Ready, type Recipe } from '../contract/index.ts'
import { nearest } from './nearest.ts'
import { ConfigProblem } from './problem.ts'

export type Builtins = {
  readonly [K in Kind]?: Readonly<Record<string, () => Promise<{ readonly default: Plugin<K> }>>>
}

/** Relative paths and packages are resolved from the base directory. Throws ConfigProblem with what was wanted and what was found. */
export async function loadPlugin<K extends Kind>(kind: K, name: string, builtins: Builtins, baseDirectory: string): Promise<Kinds[K]> {
  const [reference = '', exported = 'default'] = name.split('#', 2)
  const table: Readonly<Record<string, () => Promise<object>>> = builtins[kind] ?? {}
  const builtin = Object.hasOwn(table, name) ? table[name] : undefined
  const module = builtin === undefined ? await importFrom(kind, reference, Object.keys(table), baseDirectory) : await builtin()
  const found: unknown = new Map(Object.entries(module)).get(exported)
  if (isPlugin(kind, exported, found)) return found.plugin
  throw new ConfigProblem(problemsWith(kind, exported, found).map((problem) => `${kind} plug-in ${name}: ${problem}`))
}

const isPlugin = <K extends Kind>(kind: K, exported: string, found: unknown): found is Plugin<K> =>
  problemsWith(kind, exported, found).length === 0

/** All problems of a module's export, each as "wanted …, found …". */
function problemsWith(kind: Kind, exported: string, found: unknown): readonly string[] {
  const plugin = pluginIn(kind, found)
  if (typeof plugin === 'string') return [`wanted export ${exported} made by define('${kind}', …), found ${plugin}`]
  return Object.entries(membersOf(kind, plugin)).flatMap(([member, wanted]) => {
    const type = typeOf(Reflect.get(plugin, member))
    return type === wanted ? [] : [`wanted ${member} to be ${wanted}, found ${type}`]
  })
}

/** The defined plug-in, or a description of what was found instead. */
function pluginIn(kind: Kind, found: unknown): object | string {
  if (found === undefined) return 'no such export'
  if (typeof found !== 'object' || found === null || !('kind' in found)) return 'something that define() did not make'
  if (!('contract' in found) || found.contract !== CONTRACT) {
    return `contract ${'contract' in found ? String(found.contract) : 'unstated'}; this service speaks contract ${CONTRACT}`
  }
  if (found.kind !== kind) return `a plug-in of kind ${String(found.kind)}`
  if (!('plugin' in found) || typeof found.plugin !== 'object' || found.plugin === null) return 'a definition without a plug-in in it'
  return found.plugin
}

type MemberType = 'a function' | 'text' | 'an object' | 'true or false'
type RequiredMember<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? never : Name }[keyof T]

/** The finished form of a plug-in that may be made from its settings. */
type ItselfOf<K extends Kind> = K extends keyof Ready ? Ready[K] : Kinds[K]

const MADE = { make: 'a function' } as const
/** The members that a plug-in of each kind must have. An optional member is an optional capability. */
const MEMBERS: { readonly [K in Kind]: Readonly<Record<RequiredMember<ItselfOf<K>>, MemberType>> } = {
  recipe: { bind: 'a function' },
  adapter: {
    name: 'text',
    trajectory_format: 'text',
    layout: 'an object',
    bindings: 'an object',
    launch: 'a function',
    readTrajectory: 'a function',
  },
  processor: MADE,
  redactor: MADE,
  trainer: MADE,
  proposer: { acceptsRequests: 'true or false', propose: 'a function' },
  evaluator: { score: 'a function' },
  selection: { decide: 'a function' },
  objective: { name: 'text', loss: 'text', needsLogProbs: 'true or false', prepare: 'a function' },
  examiner: { examine: 'a function' },
  executor: MADE,
  miner: MADE,
  runtime: MADE,
  gateway: MADE,
  store: MADE,
  contents: MADE,
}

const membersOf = (kind: Kind, plugin: object): Readonly<Record<string, MemberType>> =>
  MAYBE_MADE.some((made) => made === kind) && 'make' in plugin ? MADE : MEMBERS[kind]
const MAYBE_MADE: readonly (keyof Ready)[] = ['recipe', 'proposer', 'evaluator', 'selection', 'objective', 'examiner']

const TYPES: Readonly<Record<string, string>> = {
  function: 'a function',
  string: 'text',
  object: 'an object',
  boolean: 'true or false',
  undefined: 'nothing',
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return value === null ? 'something else' : (TYPES[typeof value] ?? 'something else')
}

async function importFrom(kind: Kind, reference: string, known: readonly string[], baseDirectory: string): Promise<object> {
  const address = addressOf(kind, reference, known, baseDirectory)
  try {
    const module: object = await import(address)
    return module
  } catch (error) {
    throw new ConfigProblem([`${kind} plug-in ${reference} cannot be loaded: ${reasonOf(error)}`])
  }
}

function addressOf(kind: Kind, reference: string, known: readonly string[], baseDirectory: string): string {
  if (isAbsolute(reference) || /^\.\.?[/\\]/.test(reference)) return pathToFileURL(resolve(baseDirectory, reference)).href
  try {
    return pathToFileURL(createRequire(join(baseDirectory, 'package.json')).resolve(reference)).href
  } catch {
    const meant = nearest(reference, known)
    const hint = meant === null ? `those built in are: ${known.join(', ') || 'none'}` : `did you mean ${meant}?`
    throw new ConfigProblem([
      `${kind} plug-in ${reference} is neither built in nor an installed package, and a path starts with ./; ${hint}`,
    ])
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? (error.message.split('\n', 1)[0] ?? error.name) : String(error))

export interface RecipeAddress {
  readonly name: string
  readonly baseDirectory: string
  readonly ownPaths?: readonly string[]
  /** The recipe's name in the configuration; absent: the plug-in's. */
  readonly label?: string
}

export async function loadRecipe(
  { name, baseDirectory, ownPaths = [], label = name }: RecipeAddress,
  config: JsonObject,
  builtins: Builtins,
  warn: (message: string) => void = () => undefined,
): Promise<Recipe> {
  const plugin = await loadPlugin('recipe', name, builtins, baseDirectory)
  if (!('make' in plugin)) return plugin
  try {
    const plugins = <K extends Kind>(kind: K, part: string): Promise<Kinds[K]> => loadPlugin(kind, part, builtins, baseDirectory)
    return await plugin.make(config, { plugin: plugins, baseDirectory, ownPaths, warn })
  } catch (error) {
    throw isRefusal(error) ? new ConfigProblem([`recipe ${label}: ${error.message}`]) : error
  }
}
