/** A custom scoring function: shorter is better, and an empty answer scores 0. */
import type { Episode, Task } from '../../../src/contract/index.ts'

export default function length(_task: Task, { stdout }: Episode): number {
  return stdout === '' ? 0 : 1 / stdout.length
}
