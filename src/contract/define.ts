/** How a plug-in says what it is: its kind, and the version of the interfaces it was written for. */
import type { MessagePort } from 'node:worker_threads'
import type { JsonObject } from './json.ts'
import type { Evaluator, Executor, Proposer, Selection } from './evolution.ts'
import type { Adapter } from './harness.ts'
import type { Miner } from './mining.ts'
import type { Gateway, Recipe, Runtime } from './plugins.ts'
import type { Redactor } from './recording.ts'
import type { ContentStore, ForgetOrder, Forgotten, ObjectFolder, Store } from './stores.ts'
import type { Processor, Trainer } from './training.ts'
import type { Examiner, Objective } from './weights.ts'

/** The version of every interface on the plug-ins page. Optional members may be added within it; anything else makes the next one. */
export const CONTRACT = 1

export interface Make<T> {
  make(config: JsonObject): T | Promise<T>
}

/** A recipe that depends on its settings, or is put together from other plug-ins. Made once per configured recipe, and again where its trainers run. */
export interface MakeRecipe {
  /** `config` has the recipe's own sections. What it throws keeps the service from starting. */
  make(config: JsonObject, parts: Parts): Recipe | Promise<Recipe>
}
/** Other plug-ins, by the names the configuration gives them: built in, a path or a package. */
export interface Parts {
  plugin<K extends Kind>(kind: K, name: string): Promise<Kinds[K]>
  /** What relative paths of the configuration start from. */
  readonly baseDirectory: string
  /** Files and folders of the deployment, which no episode may see. Absent: none are known. */
  readonly ownPaths?: readonly string[]
  /** Warns the operator, once, when the service starts. */
  warn(message: string): void
}

/** One that runs agents, and can tell beforehand whether it would work here. */
export interface MakeExecutor extends Make<Executor> {
  /** Why it cannot keep agents apart on this machine, with the cure, or null when it can. Absent: it works anywhere. */
  check?(): Promise<string | null>
  /** What it isolates by on this machine, for `svc doctor`. */
  facts?(): Promise<readonly ExecutorFact[]>
  /** Whether code that a model wrote may run in it. Absent: no. */
  readonly contains?: boolean
}

/** One thing that holds episodes apart, and whether it does here. */
export interface ExecutorFact {
  readonly name: string
  readonly holds: boolean
  readonly found: string
  readonly fix?: string
}

/** What may be given as it is, or as one that is made of its settings: a recipe's own sections, and of the others the recipe's `evolution` section. */
export interface Ready {
  recipe: Recipe
  proposer: Proposer
  evaluator: Evaluator
  selection: Selection
  objective: Objective
  examiner: Examiner
}
interface MakeStore extends Make<Store> {
  /** Opens, in another thread, the store behind a port of its `share`. */
  join?(port: MessagePort): Promise<Store>
  /** It takes `encrypt` and `secret_key`, and with them lets no body reach the disk in the clear. */
  readonly encrypts?: true
  /** Removes the records that have a tag. A store of one process is refused while another has it open. Absent: the store cannot. */
  forget?(config: JsonObject, order: ForgetOrder): Forgotten | Promise<Forgotten>
}

interface MakeContents extends Make<ContentStore> {
  /** Plain objects in the place that a repository of it would have, for what is written there beside releases. Absent: it has no such place. */
  objects?(config: JsonObject): ObjectFolder
}

interface Makers {
  recipe: MakeRecipe
  proposer: Make<Proposer>
  evaluator: Make<Evaluator>
  selection: Make<Selection>
  objective: Make<Objective>
  examiner: Make<Examiner>
}

export interface Kinds {
  recipe: Ready['recipe'] | Makers['recipe']
  adapter: Adapter
  processor: Make<Processor>
  trainer: Make<Trainer>
  proposer: Ready['proposer'] | Makers['proposer']
  evaluator: Ready['evaluator'] | Makers['evaluator']
  selection: Ready['selection'] | Makers['selection']
  objective: Ready['objective'] | Makers['objective']
  examiner: Ready['examiner'] | Makers['examiner']
  executor: MakeExecutor
  miner: Make<Miner>
  runtime: Make<Runtime>
  gateway: Make<Gateway>
  redactor: Make<Redactor>
  store: MakeStore
  contents: MakeContents
}
export type Kind = keyof Kinds

export interface Plugin<K extends Kind = Kind> {
  readonly contract: typeof CONTRACT
  readonly kind: K
  readonly plugin: Kinds[K]
}

/** What a plug-in module exports by default: `export default define('evaluator', { … })`. */
export function define<K extends Exclude<Kind, keyof Ready>>(kind: K, plugin: Kinds[K]): Plugin<K>
export function define<K extends keyof Ready>(kind: K, plugin: Ready[K]): Plugin<K> & { readonly plugin: Ready[K] }
export function define<K extends keyof Ready>(kind: K, plugin: Makers[K]): Plugin<K> & { readonly plugin: Makers[K] }
export function define<K extends Kind>(kind: K, plugin: Kinds[K]): Plugin<K> {
  return { contract: CONTRACT, kind, plugin }
}
