/** The commands, options and values that shells complete, read from the program itself. */
import type { Argument, Command, Option } from 'commander'

export type Value = readonly string[] | 'file' | 'scenario' | 'text'

interface Flag {
  /** As typed, such as `-n` and `--number`. */
  readonly names: readonly string[]
  readonly about: string
  /** Null for an option without a value. */
  readonly value: Value | null
}

export interface Node {
  /** The words that lead here; none for the program itself. */
  readonly path: readonly string[]
  readonly about: string
  readonly flags: readonly Flag[]
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

export const allNodes = (node: Node): readonly Node[] => [node, ...node.children.flatMap(allNodes)]

export const isBelow = ({ path }: Node): boolean => path.length > 0

export const placeOf = (path: readonly string[]): string => path.map((word) => `/${word}`).join('')

function flagOf(option: Option): Flag {
  const names = [option.short, option.long].filter((name) => name !== undefined && name !== null)
  return { names, about: option.description, value: option.required || option.optional ? valueNamed(option.attributeName(), option) : null }
}

const valueOf = (argument: Argument): Value => valueNamed(argument.name(), argument)

/** The name of an option or argument says what it takes. */
function valueNamed(name: string, { argChoices }: Pick<Option, 'argChoices'>): Value {
  if (argChoices !== undefined) return argChoices
  if (FILES.has(name)) return 'file'
  return name === 'scenario' ? 'scenario' : 'text'
}

const FILES: ReadonlySet<string> = new Set(['before', 'config', 'export', 'folder', 'output', 'tasks'])
