/** Configuration keys among the arguments of a command: `--section.key value`, `--section.key=value`, `--no-section.flag`. */
import { isSection, kindAt, spelling, takesNull, unknownKeyProblem } from './keys.ts'
import type { GivenValue } from './problem.ts'
import { readValue } from './values.ts'

export interface CommandLineReading {
  readonly given: readonly GivenValue[]
  readonly problems: readonly string[]
  /** The arguments that are not about configuration, in their order. */
  readonly rest: readonly string[]
}

interface Option {
  readonly name: string
  readonly negated: boolean
  readonly attached: string | null
}

const OPTION = /^--(no-)?([A-Za-z][A-Za-z0-9_.-]*)(?:=([\s\S]*))?$/
const ORIGIN = 'command line'

export function readCommandLine(args: readonly string[]): CommandLineReading {
  const reading: { given: GivenValue[]; problems: string[]; rest: string[] } = { given: [], problems: [], rest: [] }
  const waiting = [...args]
  for (let arg = waiting.shift(); arg !== undefined; arg = waiting.shift()) {
    const option = optionOf(arg)
    if (arg === '--' || option === null) reading.rest.push(arg, ...(arg === '--' ? waiting.splice(0) : []))
    else readOption(option, waiting, reading)
  }
  return { ...reading, given: joinLists(reading.given, reading.problems) }
}

/** Configuration options contain a dot, or name a key at the top of the file. */
function optionOf(arg: string): Option | null {
  const [, no, name, attached = null] = OPTION.exec(arg) ?? []
  if (name === undefined) return null
  return name.includes('.') || kindAt([name]) !== null ? { name, negated: no !== undefined, attached } : null
}

function readOption(option: Option, waiting: string[], reading: { given: GivenValue[]; problems: string[] }): void {
  const path = pathOf(option.name)
  const key = `--${option.name}`
  const problem = unknownKeyProblem(path) ?? (isSection(path) ? `${key} is a section; set one of its keys, such as ${key}.KEY` : null)
  if (problem !== null) {
    reading.problems.push(`${ORIGIN}: ${problem}`)
    if (option.attached === null && !isOption(waiting[0])) waiting.shift()
    return
  }
  const text = textOf(option, path, waiting)
  if (text === null) {
    reading.problems.push(
      `${ORIGIN}: ${option.negated ? `--no-${option.name} fits only a true-or-false key without a value` : `${key} needs a value`}`,
    )
    return
  }
  const value = text === 'null' && takesNull(path) ? null : readValue(text, kindAt(path))
  reading.given.push({ path, value, origin: ORIGIN })
}

/** A flag without a value means true. It takes the next argument only when that is true or false. */
function textOf(option: Option, path: readonly string[], waiting: string[]): string | null {
  const isFlag = kindAt(path) === 'flag'
  if (option.negated) return isFlag && option.attached === null ? 'false' : null
  if (option.attached !== null) return option.attached
  const next = waiting[0]
  if (isFlag && next !== 'true' && next !== 'false') return 'true'
  return isOption(next) ? null : (waiting.shift() ?? null)
}

const isOption = (arg: string | undefined): boolean => arg?.startsWith('--') ?? true

function pathOf(name: string): readonly string[] {
  const path: string[] = []
  for (const part of name.split('.')) path.push(spelling(path, part))
  return path
}

/** A list may be given item by item; any other key only once. */
function joinLists(given: readonly GivenValue[], problems: string[]): readonly GivenValue[] {
  const byKey = new Map<string, GivenValue>()
  for (const one of given) {
    const key = one.path.join('.')
    const earlier = byKey.get(key)
    if (earlier === undefined) byKey.set(key, one)
    else if (Array.isArray(earlier.value) && Array.isArray(one.value)) byKey.set(key, { ...one, value: [...earlier.value, ...one.value] })
    else problems.push(`${ORIGIN}: --${key} is given twice; keep one`)
  }
  return [...byKey.values()]
}
