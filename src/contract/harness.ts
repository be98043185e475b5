/** The doors of a harness: what an entry of a tree may be, and the adapter that makes files and a running agent of a tree. */
import type { JsonObject } from './json.ts'
import type { Entry, Files, ModelAddress } from './nouns.ts'
import type { ModelApi } from './wire/index.ts'

/** Entries that become a file of their own, named by `config.name`. */
export const NAMED_KINDS = [
  'agent_command',
  'skill',
  'code_extension',
  'native_tool',
  'native_hook',
  'native_agent',
  'native_graph',
  'native_loop',
] as const
export type NamedKind = (typeof NAMED_KINDS)[number]
/** What an entry's `name` may be. `config` entries are merged into the adapter's settings, `rules` into its one rules file. */
export type EntryKind = 'config' | 'rules' | NamedKind

/** Entries that the service ships and keeps up to date; no mutation may touch them. */
export const RESERVED_ENTRIES = ['svc-version-check', 'svc-requests', 'svc-pi-extension-api'] as const

/**
 * An agent's program as data: which files it reads and where, how its model is named, how it is started. The house renders a tree by it, so
 * that merging, collisions and paths are decided in one place; `finish` has the last word.
 */
export interface Adapter {
  readonly name: string
  /** The command a person would type. */
  readonly binary: string
  readonly trajectory_format: string
  readonly layout: Layout
  /** The config that names a model, per API it can speak, the preferred one first. It comes after the tree's own entries, so it wins. */
  readonly bindings: Readonly<Partial<Record<ModelApi, (model: ModelAddress) => readonly ConfigPatch[]>>>
  /** How the pinned program is installed; absent for adapters whose program is no vendor's. */
  readonly install?: InstallSpec
  /** How a person's own session runs. Absent with `install`. */
  readonly client?: ClientSpec
  /** The tree that a scenario starts with where the configuration names none. */
  readonly seed?: readonly Entry[]
  /** Entries for a person's session, which do nothing in episodes. */
  readonly shipped?: { readonly version_check?: readonly Entry[]; readonly requests?: readonly Entry[] }
  /** Other formats, further files, and refusals of what this agent would take amiss. Pure. Absent: every config file is printed as JSON. */
  finish?(draft: Draft): Files
  /** The command of one headless episode in the folder `root`, which holds the bound files. No shell reads the prompt. */
  launch(task: EpisodeTask, root: string): Launch
  /** What the agent left of its episode in that folder; nothing when it never got to work. */
  readTrajectory(root: string): Promise<readonly JsonObject[]>
}

/** Where each kind of entry goes, as paths below the root. A kind without a place is refused, never dropped. */
export interface Layout {
  /** Config files by target; `primary` is the one an entry without a target means. */
  readonly config: Readonly<Record<string, { readonly path: string; readonly defaults?: JsonObject }>>
  readonly rules?: string
  /** Templates that hold `{name}`. */
  readonly named: Readonly<Partial<Record<NamedKind, string>>>
  /** Where the tree's entries themselves are put for the agent to read, as one JSON array. */
  readonly tree?: string
}
export interface ConfigPatch {
  readonly target: string
  readonly data: JsonObject
}
/** A tree on its way to files. */
export interface Draft {
  /** Config by target: the defaults, the tree's entries in order, and the binding when there is one, merged. */
  readonly config: Readonly<Record<string, JsonObject>>
  /** Everything else. */
  readonly files: Files
  /** The entries in force, in order. */
  readonly entries: readonly Entry[]
  /** The config patches of the binding; empty in a tree as it is stored. */
  readonly binding: readonly ConfigPatch[]
}

export interface InstallSpec {
  readonly manager: 'npm' | 'git'
  readonly package: string
  readonly version: string
  /** Below the prefix it is installed under. */
  readonly binary_path: string
  /** The least Node it runs on, such as 22.19. Absent: any. */
  readonly node_least?: string
  /** The text of a package-lock.json that npm installs it by. Absent: its own dependencies are pinned already. */
  readonly lock?: string
  /** Of a git install: where from, and at which tag. */
  readonly repository?: string
  readonly ref?: string
}

/** `{root}` in a value is the folder that holds the files. */
export interface ClientSpec {
  /** Variables without which the agent would not read these files. */
  readonly env: Readonly<Record<string, string>>
  /** Variables a person's own value wins over. */
  readonly env_defaults: Readonly<Record<string, string>>
  /** What the agent keeps from one session to the next, below the root; a folder's path ends in `/`. */
  readonly state: readonly string[]
  /** Programs the agent works better with. */
  readonly tools: readonly { readonly command: string; readonly package: string }[]
}

export interface EpisodeTask {
  readonly prompt: string
  /** Everything the agent does stays in a sandbox, in which it can make none of its own. Absent: it does not. */
  readonly contained?: boolean
}

export interface Launch {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
}
