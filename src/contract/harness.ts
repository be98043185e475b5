/** The interface of harness adapters: the kinds of entries, and the adapter that renders a tree and starts its agent. */
import type { JsonObject } from './json.ts'
import type { Entry, Files, ModelAddress } from './nouns.ts'
import type { Power } from './powers.ts'
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
/** The kinds of entries. `config` entries are merged into the adapter's settings, `rules` into its rules file. */
export type EntryKind = 'config' | 'rules' | NamedKind

/** Entries that the service ships and updates; no mutation may change them. */
export const RESERVED_ENTRIES = ['svc-version-check', 'svc-requests', 'svc-pi-extension-api'] as const

/**
 * Describes an agent: its files, its model settings, and how it is started. The service renders trees by this description, so that merging,
 * collisions and paths are handled in one place; `finish` may change the result.
 */
export interface Adapter {
  readonly name: string
  /** The command a person would type. Absent where there is none: the operator names the program (`evolution.binary`). */
  readonly binary?: string
  readonly trajectory_format: string
  readonly layout: Layout
  /** The config that sets the model, per supported API, the preferred one first. It overrides the tree's entries. */
  readonly bindings: Readonly<Partial<Record<ModelApi, (model: ModelAddress) => readonly ConfigPatch[]>>>
  /** How the pinned program is installed; absent for our own agent. */
  readonly install?: InstallSpec
  /** How a person's session runs. Absent with `install`. */
  readonly client?: ClientSpec
  /** The default seed of a scenario. */
  readonly seed?: readonly Entry[]
  /** Entries for people's sessions, without effect in episodes. */
  readonly shipped?: { readonly version_check?: readonly Entry[]; readonly requests?: readonly Entry[] }
  /** What its entries could do on a machine. Absent: everything. */
  readonly powers?: AdapterPowers
  /** Other formats, further files, and refusals of entries that the agent would not accept. Pure. Absent: config files are JSON. */
  finish?(draft: Draft): Files
  /** The command of a headless episode in the folder `root`, which holds the bound files. No shell parses the prompt. */
  launch(task: EpisodeTask, root: string): Launch
  /** The agent's log in that folder; empty when it never started. */
  readTrajectory(root: string): Promise<readonly JsonObject[]>
}

/**
 * The powers of what an adapter renders. Whatever is not listed has every power but `removes`, which is decided by comparing trees. A list may
 * be empty or `['words']` where only the texts of an entry matter: those are always screened.
 */
export interface AdapterPowers {
  /** The powers that every entry of a kind has by itself. `config` has those of its settings. */
  readonly kinds: Readonly<Partial<Record<Exclude<EntryKind, 'config'>, readonly Power[]>>>
  /** By `target.path.of.field`; `*` stands for any one name, a list's index included. A path covers everything below it; the most exact wins. */
  readonly settings: Readonly<Record<string, readonly Power[]>>
  /** By field of the front matter of skills and commands. */
  readonly head: Readonly<Record<string, readonly Power[]>>
  /** Texts that the agent acts on when it loads them, such as imports, in entries and settings alike. Patterns take linear time. */
  readonly texts: readonly TextPower[]
}
export interface TextPower {
  readonly pattern: RegExp
  readonly power: Power
  /** Completes "it holds …". */
  readonly why: string
}

/** The path of each kind of entry below the root. A kind without a path is refused. */
export interface Layout {
  /** Config files by target; `primary` is the default. */
  readonly config: Readonly<Record<string, { readonly path: string; readonly defaults?: JsonObject }>>
  readonly rules?: string
  /** Templates that hold `{name}`. */
  readonly named: Readonly<Partial<Record<NamedKind, string>>>
  /** A file with the tree's entries as one JSON array, for the agent to read. */
  readonly tree?: string
}
export interface ConfigPatch {
  readonly target: string
  readonly data: JsonObject
}
/** A tree before `finish`. */
export interface Draft {
  /** Config by target: the defaults, the tree's entries in order, and the binding when there is one, merged. */
  readonly config: Readonly<Record<string, JsonObject>>
  /** Everything else. */
  readonly files: Files
  /** The enabled entries, in order. */
  readonly entries: readonly Entry[]
  /** The config patches of the binding; empty in a tree as it is stored. */
  readonly binding: readonly ConfigPatch[]
}

export interface InstallSpec {
  readonly manager: 'npm' | 'git'
  readonly package: string
  readonly version: string
  /** Below the install prefix. */
  readonly binary_path: string
  /** The minimum Node version, such as 22.19. Absent: any. */
  readonly node_least?: string
  /** The text of a package-lock.json for the install, with the sha512 of every package. Scripts of packages are never run. */
  readonly lock?: string
  /** Below `node_modules`: programs for one machine each, in the order they are tried, where a script would choose. `{os}` and `{cpu}` are Node's names. */
  readonly native?: readonly string[]
  /** For a git install: the repository, the tag for people, and the whole id of the commit that is fetched. */
  readonly repository?: string
  readonly ref?: string
  readonly commit?: string
}

/** `{root}` in a value is the folder that holds the files. */
export interface ClientSpec {
  /** Variables that make the agent read these files. */
  readonly env: Readonly<Record<string, string>>
  /** Defaults, which the person's own variables override. */
  readonly env_defaults: Readonly<Record<string, string>>
  /** State that the agent keeps between sessions, below the root; a folder's path ends in `/`. */
  readonly state: readonly string[]
  /** JSON files below the root of which only these fields are kept, and only plain values. */
  readonly state_fields?: Readonly<Record<string, readonly string[]>>
  /** The person's own files that a session takes over when they name them by these words. Absent where the agent reads them anyway. */
  readonly takes?: Readonly<Record<string, TakenFile>>
  /** Programs the agent works better with. */
  readonly tools: readonly { readonly command: string; readonly package: string }[]
}

export interface TakenFile {
  /** Below the person's home. */
  readonly from: string
  /** Below the root: the text is added to what is there. */
  readonly to: string
  /** Only these paths of fields are taken from a JSON file. `{folder}` stands for the working folder, and for each above it. */
  readonly fields?: readonly (readonly string[])[]
}

export interface EpisodeTask {
  readonly prompt: string
  /** Whether the episode runs in a sandbox, in which the agent cannot make its own. */
  readonly contained?: boolean
}

export interface Launch {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
}
