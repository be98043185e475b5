/** What a request asks, as the model thinks about it. */
import type { JsonObject } from '../../../src/contract/index.ts'
import type { Tool, ToolChoice } from '../../../src/dialects/index.ts'

export interface Prompt {
  readonly model: string
  readonly turns: readonly PromptTurn[]
  readonly tools: readonly Tool[]
  readonly choice: ToolChoice
  /** The most tokens the answer may have; null when the request sets no limit. */
  readonly tokensMax: number | null
  readonly stops: readonly string[]
  /** Set when the answer must be JSON; the schema is null for 'any object'. */
  readonly format: { readonly schema: JsonObject | null } | null
}

export type PromptTurn =
  /** System and developer text, from anywhere in the request. */
  | { readonly role: 'instruction'; readonly texts: readonly string[] }
  | UserTurn
  | { readonly role: 'assistant'; readonly texts: readonly string[]; readonly calls: readonly EarlierCall[] }
  | ToolTurn
export interface UserTurn {
  readonly role: 'user'
  readonly texts: readonly string[]
  readonly images: number
}
export interface ToolTurn {
  readonly role: 'tool'
  readonly callId: string
  readonly text: string
  readonly failed: boolean
}

/** A call the model made earlier: the input is JSON text for a function, free text for a custom tool. */
export interface EarlierCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

/** What the model makes of a prompt: words, or one tool call. */
export type Thought =
  | { readonly kind: 'text'; readonly text: string; readonly plain: boolean }
  | { readonly kind: 'call'; readonly tool: Tool; readonly input: string }
