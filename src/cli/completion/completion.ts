/** `svc completion`: prints a script that completes commands, options and scenario names in a shell. */
import type { Command } from 'commander'
import { connect } from '@svc-ai/client'
import { serviceAddress, type RemoteOptions } from '../remote/address.ts'
import { showHiddenLine } from '../../kit/index.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { treeOf, type Node } from './tree.ts'
import { zshScript } from './zsh.ts'

const SCRIPT: Readonly<Record<string, (tree: Node) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript }
export const SHELLS: readonly string[] = Object.keys(SCRIPT)

/** The user waits at the prompt. */
const NAMES_SECONDS_MAX = 5

export interface CompletionOptions extends RemoteOptions {
  readonly shell?: string
  readonly names?: boolean
}

export async function completion(program: Command, options: CompletionOptions, surroundings: Surroundings): Promise<number> {
  if (options.names === true) return printNames(options, surroundings)
  const script = SCRIPT[options.shell ?? '']
  if (script === undefined) {
    surroundings.err(`name your shell; one of: ${SHELLS.map((shell) => `svc completion ${shell}`).join(', ')}`)
    return EXIT.misconfigured
  }
  surroundings.out(script(treeOf(program)))
  return EXIT.fine
}

/** Prints nothing about failures, and no names with control characters. */
async function printNames(options: RemoteOptions, surroundings: Surroundings): Promise<number> {
  try {
    const svc = connect({ ...(await serviceAddress(options, surroundings)), timeoutSeconds: NAMES_SECONDS_MAX })
    for (const { scenario } of await svc.scenarios()) if (showHiddenLine(scenario) === scenario) surroundings.out(scenario)
    return EXIT.fine
  } catch {
    return EXIT.misconfigured
  }
}
