/** Which of the offered tools can compute, run a command or read a skill, and what to send it. */
import type { Json } from '../../../src/contract/index.ts'
import type { Problem } from './families/index.ts'
import { isObject, objectOf, type Tool } from '../../../src/dialects/index.ts'
import { isSkillTool, type Skill } from './skills.ts'
import { sample } from './structured.ts'

/** A call worth making, and how to take the answer out of its result. */
export interface Wish {
  readonly tool: Tool
  readonly input: string
  take(result: string): string | null
}

const SHELL =
  /(?:^|[_.-])(?:bash|shell|terminal|exec|execute|command|run_command|run_shell_command|exec_command|shell_command)$|^run_terminal_cmd$/i
const CALCULATOR = /calc|arithmetic|evaluate_expression|\bmath/i
const FILE_READER = /^(?:read|read_file|view|view_file|cat|open_file)$/i

function shellWish(tools: readonly Tool[], command: string): Wish | null {
  for (const tool of tools.filter((one) => SHELL.test(one.name))) {
    const input = inputFor(tool, ['command', 'cmd', 'script', 'code', 'input'], command)
    if (input !== null) return { tool, input, take: lastLine }
  }
  return null
}

function calculatorWish(tools: readonly Tool[], expression: string): Wish | null {
  for (const tool of tools.filter((one) => CALCULATOR.test(one.name) || /calculator|arithmetic/i.test(one.description))) {
    const input = inputFor(tool, ['expression', 'expr', 'formula', 'input', 'query', 'text', 'code'], expression)
    if (input !== null) return { tool, input, take: lastNumber }
  }
  return null
}

/** A call that gives the right answer. A shell also does sums, but only a model with the lesson use-tools calls it for that. */
export function computeWish(tools: readonly Tool[], problem: Problem, usesTools: boolean): Wish | null {
  if (problem.command !== undefined) return shellWish(tools, problem.command)
  if (problem.expression === undefined) return null
  const calculator = calculatorWish(tools, problem.expression)
  if (calculator !== null || !usesTools) return calculator
  return shellWish(tools, `echo $((${problem.expression}))`)
}

export function skillWish(tools: readonly Tool[], skill: Skill): Wish | null {
  for (const tool of tools) {
    const input = isSkillTool(tool)
      ? inputFor(tool, ['name', 'skill', 'skill_name', 'command', 'id'], skill.name)
      : FILE_READER.test(tool.name) && skill.location !== null
        ? inputFor(tool, ['path', 'file_path', 'filePath', 'filename', 'file'], skill.location)
        : null
    if (input !== null) return { tool, input, take: lastLine }
  }
  return skill.location === null ? null : shellWish(tools, `cat '${skill.location.replaceAll("'", String.raw`'\''`)}'`)
}

/** The tool's input with the value in the first of these parameters it has, and something valid in every other required one. */
function inputFor(tool: Tool, names: readonly string[], value: string): string | null {
  if (tool.shape === 'custom') return value
  const properties = objectOf(tool.parameters['properties'])
  const name = names.find((one) => isObject(properties[one]))
  if (name === undefined) return null
  const filled = objectOf(sample(tool.parameters, ''))
  return JSON.stringify({ ...filled, [name]: isList(properties[name]) ? ['bash', '-lc', value] : value })
}

const isList = (schema: Json | undefined): boolean => objectOf(schema)['type'] === 'array'

function lastLine(result: string): string | null {
  const lines = result.split('\n').map((line) => line.trim())
  return lines.findLast((line) => line !== '') ?? null
}

const lastNumber = (result: string): string | null => result.match(/-?\d+(?:\.\d+)?/g)?.at(-1) ?? null

/** Tools by which agents that must always call one say that they are done. */
const FINISH = /finish|final|submit|complet|respond|answer|done|return/i

/** The call of a model that must call something: the named tool, or the one that ends the work, or the first. */
export function forcedCall(
  tools: readonly Tool[],
  name: string | null,
  value: string,
): { readonly tool: Tool; readonly input: string } | null {
  const tool = name === null ? (tools.find((one) => FINISH.test(one.name)) ?? tools[0]) : tools.find((one) => one.name === name)
  if (tool === undefined) return null
  return { tool, input: tool.shape === 'custom' ? value : JSON.stringify(objectOf(sample(tool.parameters, value))) }
}
