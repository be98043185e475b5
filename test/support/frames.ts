/** Server-sent events as providers write them. */

export const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`

/** An event under the name its type gives it. */
export const named = (value: { readonly type: string; readonly [key: string]: unknown }): string => `event: ${value.type}\n${data(value)}`

export const DONE = 'data: [DONE]\n\n'

/** A stream and the equivalent whole answer. */
export interface StreamCase {
  readonly name: string
  readonly frames: readonly string[]
  readonly whole: object
}
