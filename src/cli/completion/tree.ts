/** The commands as a shell completes them, read from the commands themselves. */
import type { Argument, Command, Option } from 'commander'

/** What may stand for a value: one of these words, a file, a scenario that exists, or anything. */
export type Value = readonly string[] | 'file' | 'scenario' | 'text'

interface Flag {
  /** As typed, such as `-n` and `--number`. */
  readonly names: readonly string[]
  readonly about: string
  /** Null for one that takes no value. */
  readonly value: Value | null
}

export interface Node {
  /** The words that lead here; none for the program itself. */
  readonly path: readonly string[]
  readonly about: string
  readonly flags: readonly Flag[]
  /** What each argument may be, in their order. */
  readonly values: readonly Value[]
  readonly children: readonly Node[]
}

export function treeOf(command: Command, path: readonly string[] = []): Node {
  const help = command.createHelp()
  return {
    path,
    about: command.description(),
    flags: help.visibleOptions(command).map(flagOf),
    values: command.registeredArguments.map(valueOf),
    children: help.visibleCommands(command).map((child) => treeOf(child, [...path, child.name()])),
  }
}

/** The program and all its commands, each before those below it. */
export const allNodes = (node: Node): readonly Node[] => [node, ...node.children.flatMap(allNodes)]

/** Those that have a name, unlike the program itself. */
export const isBelow = ({ path }: Node): boolean => path.length > 0

/** The path as one word, which scripts know a command by. */
export const placeOf = (path: readonly string[]): string => path.map((word) => `/${word}`).join('')

function flagOf(option: Option): Flag {
  const names = [option.short, option.long].filter((name) => name !== undefined && name !== null)
  return { names, about: option.description, value: option.required || option.optional ? valueNamed(option.attributeName(), option) : null }
}

const valueOf = (argument: Argument): Value => valueNamed(argument.name(), argument)

/** Options and arguments are called by what they take. */
function valueNamed(name: string, { argChoices }: Pick<Option, 'argChoices'>): Value {
  if (argChoices !== undefined) return argChoices
  if (FILES.has(name)) return 'file'
  return name === 'scenario' ? 'scenario' : 'text'
}

const FILES: ReadonlySet<string> = new Set(['config', 'export', 'output', 'tasks'])
