/** A harness tree as the agent runs it: everything read into memory, so that files that change meanwhile change nothing. */

export type Data = Readonly<Record<string, unknown>>

export interface Tree {
  /** Where it was read from; the skills lie there. */
  readonly folder: string
  readonly model: TreeModel
  readonly rules: string
  readonly skills: readonly TreeSkill[]
  readonly tools: readonly TreeTool[]
  /** In the order of their names. */
  readonly hooks: readonly Hook[]
  readonly agents: ReadonlyMap<string, Agent>
  readonly graphs: ReadonlyMap<string, Graph>
  readonly loop: Loop | null
}

/** What the files say of the model. All but the window is there once they are bound to one. */
export interface TreeModel {
  readonly baseUrl: string | null
  readonly apiKey: string | null
  readonly model: string | null
  readonly contextTokens: number
}

export interface TreeSkill {
  readonly name: string
  readonly description: string
  /** The absolute path of its text. */
  readonly location: string
}

export type Capability = 'read' | 'write' | 'exec' | 'network'

export interface TreeTool {
  readonly name: string
  readonly description: string
  /** A JSON schema. */
  readonly parameters: Data
  readonly capabilities: readonly Capability[]
  readonly code: string
}

export type HookEvent = 'pre_step' | 'pre_execute' | 'request_error' | 'post_execute'

export interface Hook {
  readonly name: string
  readonly event: HookEvent
  readonly code: string
}

export interface Agent {
  readonly name: string
  readonly prompt: string
  readonly graph: string
  /** Null: all there are. */
  readonly tools: readonly string[] | null
  readonly skills: readonly string[] | null
  readonly stepsMax: number
  readonly toolCallsMax: number
  /** Each takes over from the one before it. */
  readonly followers: readonly string[]
}

export interface Loop {
  readonly name: string
  readonly stepsMax: number
  readonly code: string
}

export interface Graph {
  readonly name: string
  readonly start: string
  readonly stepsMax: number
  readonly stages: ReadonlyMap<string, GraphStage>
  /** The next stage by `stage outcome`. */
  readonly edges: ReadonlyMap<string, string>
}

export type GraphStage =
  | { readonly kind: 'model' }
  | { readonly kind: 'tools'; readonly allow: readonly string[] | null }
  | {
      readonly kind: 'verify'
      readonly check: 'last_line_integer' | 'last_line_matches' | 'nonempty'
      readonly pattern: string
      readonly message: string | null
    }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'branch'; readonly cases: readonly Case[] }
  | { readonly kind: 'compact'; readonly fireRatio: number; readonly keepRatio: number }
  | { readonly kind: 'subagent'; readonly agent: string }
  | { readonly kind: 'end'; readonly reason: 'completed' | 'gave_up' }

export interface Case {
  readonly outcome: string
  readonly stepsUsedAtLeast: number | null
  readonly toolErrorsAtLeast: number | null
  readonly lastTextMatches: string | null
}

/** What a turn runs by when the tree has no graph of this name. */
export const ROOT_GRAPH = 'main'
/** What an agent runs by that names no graph. The tree may have one of its own of that name. */
export const BUILT_IN_GRAPH = 'seed'
