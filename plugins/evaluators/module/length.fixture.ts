/** A scoring function as somebody would write it: shorter is better, and an answer that is none gets nothing. */
import type { Episode, Task } from '../../../src/contract/index.ts'

export default function length(_task: Task, { stdout }: Episode): number {
  return stdout === '' ? 0 : 1 / stdout.length
}
