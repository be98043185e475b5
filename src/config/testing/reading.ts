/** Reads a configuration out of texts, for tests. */
import { readCommandLine } from '../command-line.ts'
import type { Environment } from '../interpolate.ts'
import { readConfig } from '../load.ts'
import { ConfigProblem } from '../problem.ts'

interface Given {
  readonly text?: string
  readonly args?: readonly string[]
  readonly environment?: Environment
}

export const read = ({ text = '', args = [], environment = {} }: Given) =>
  readConfig({ text, commandLine: readCommandLine(args), environment, file: 'svc.yaml' })

export function problemsOf(given: Given): readonly string[] {
  try {
    read(given)
  } catch (error) {
    if (error instanceof ConfigProblem) return error.problems
    throw error
  }
  return []
}
