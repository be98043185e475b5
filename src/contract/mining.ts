/** The plug-in interface of miners, which find tasks in what a person has, such as the history of a repository. */
import type { Dependencies } from './evolution.ts'
import type { JsonObject } from './json.ts'
import type { Files } from './nouns.ts'

export interface Miner {
  /**
   * Tasks, the best first. A miner starts no program of its source: the service tries each task in isolation before it keeps it. The service
   * stops reading when it has enough, so a miner may offer more than are wanted.
   */
  mine(order: MiningOrder): AsyncIterable<MinedTask>
}
export interface MiningOrder {
  /** What is mined; for the miner `git` a folder of a repository. Untrusted. */
  readonly source: string
  /** How many tasks are wanted. */
  readonly tasksMax: number
  /** Origins that were offered before, and are not wanted again. */
  readonly known: ReadonlySet<string>
  /** One line for people: what it does. */
  readonly report: (line: string) => void
  /** Called for each origin that holds no task, with the reason in a few words. */
  readonly passOver: (origin: string, reason: string) => void
  readonly signal: AbortSignal
}
/** What a miner adds to what a person asked, each in a paragraph of its own. Tasks are not compared by it. */
export const MINED_PROMPT_ENDS = {
  repository: 'The folder that you are in holds the repository. Make this change in its code.',
  files: 'The folder that you are in holds the files.',
  answer: 'End with a line that holds the answer alone.',
} as const
export interface MinedTask {
  /** Unique in its source, and the same every time. */
  readonly name: string
  readonly prompt: string
  /** The workspace's files when the agent starts. */
  readonly files?: Files
  readonly dependencies?: Dependencies
  /** What its evaluator goes by, as in a task. Paths of `verify_files` start with `verify/`. */
  readonly data: JsonObject
  /** Identifies it for ever, such as `git:` and the id of a commit. */
  readonly origin: string
  /** Where it comes from, for people. */
  readonly about?: JsonObject
  /** Its subject, such as a file of code and its tests. Tasks of one module are one family. */
  readonly module: string
  /** A solution. Absent: none is known. Never shown to an agent. */
  readonly reference?: Reference
}
/** How a solution changes the workspace. */
export interface Reference {
  /** Files that it adds or replaces. */
  readonly files: Files
  readonly removed: readonly string[]
  /** What an agent says at the end, where the answer is graded. */
  readonly answer?: string
}
