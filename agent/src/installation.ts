/** What the service puts into an install script: everything that a machine needs to have one release of a harness. Plain data, no secrets. */
import type { Requires } from '@svc-ai/client'
import { digestOf, sha256, type Signed } from '@svc-ai/client/signing'
import type { StateFields } from './state-fields.ts'
import type { PersonsFile } from './take-over.ts'

export interface Installation {
  readonly adapter: string
  /** The command a person would type without svc. */
  readonly binary: string
  /** Where the service was reached, without a trailing slash. */
  readonly url: string
  readonly scenario: string
  readonly release_id: string
  readonly content_id: string
  /** Path to text: the tree as it is pulled. Paths are relative and stay below the root. */
  readonly files: Readonly<Record<string, string>>
  /** Those of the files, and further ones, that tell the agent where its model is; they hold the two placeholders, each inside a quoted string. */
  readonly binding: Readonly<Record<string, string>>
  /** What is the harness's alone below the root, whether this release has something there or not; a folder's path ends in `/`. */
  readonly harness_paths: readonly string[]
  readonly placeholders: { readonly url: string; readonly token: string }
  readonly requires: readonly Requires[]
  /** The newest release of the chain that requires nothing, to be installed until this one's items are set up. */
  readonly fallback_release_id: string | null
  readonly install: VendorInstall
  readonly client: SessionSpec
}

/** What a script brings that was asked for without a scenario: how to find the one that is installed in a folder, and what to make where none is. */
export interface InstallStart {
  readonly adapter: string
  readonly binary: string
  readonly url: string
  /** A name that is not taken yet; the scenario is made under it if one is needed. */
  readonly scenario: string
  /** The recipe that serves files for this agent. */
  readonly recipe: string
  readonly install: Pick<VendorInstall, 'version' | 'node_least'>
}

export interface VendorInstall {
  readonly manager: 'npm' | 'git'
  readonly package: string
  readonly version: string
  /** Below the prefix it is installed under. */
  readonly binary_path: string
  /** The least Node it runs on, such as 22.19. Absent: any. */
  readonly node_least?: string
  /** The text of a package-lock.json that npm installs it by, with the sha512 of every package. */
  readonly lock?: string
  /** Below `node_modules`: the programs of its packages for one machine each, in the order they are tried. `{os}` and `{cpu}` are Node's names. */
  readonly native?: readonly string[]
  readonly repository?: string
  /** The tag, for people. */
  readonly ref?: string
  /** What is fetched: the whole id. */
  readonly commit?: string
}

/** `{root}` in a value is the folder that holds the files of a run. */
interface SessionSpec {
  /** Variables without which the agent would not read these files. */
  readonly env: Readonly<Record<string, string>>
  /** Variables a person's own value wins over. */
  readonly env_defaults: Readonly<Record<string, string>>
  /** What the agent keeps from one session to the next, below the root; a folder's path ends in `/`. */
  readonly state: readonly string[]
  /** JSON files of which only these fields are kept. */
  readonly state_fields?: StateFields
  /** The person's own files that a session takes over by these words. Absent where the agent reads them anyway. */
  readonly takes?: Readonly<Record<string, PersonsFile>>
  /** Programs the agent works better with. */
  readonly tools: readonly { readonly command: string; readonly package: string }[]
}

/** As a script carries it: with what the deployment says of the release and of all that the script brings. */
export interface SignedInstallation extends Installation {
  readonly signed: Signed
}

/** The digest of everything that a script brings, the program included. */
export const deliveryOf = (installation: Installation, program: string): string => digestOf({ installation, program: sha256(program) })
