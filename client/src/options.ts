/** What the command lines have in common: every option is checked before anything is opened or sent. */
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { UsageError } from './failure.ts'
import { TOKEN_VARIABLE } from './names.ts'
import { scenarioProblem, tokenProblem, urlProblem, withoutSlash } from './place.ts'

/** The options of every command. */
export const COMMON = {
  url: { type: 'string' },
  scenario: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** The lines of a help text that are the same everywhere. */
export const COMMON_HELP = `  --json                   print the outcome as one JSON object
  --help                   print this

Environment:
  ${TOKEN_VARIABLE}                the service's token, when it asks for one
`

type OptionTypes = NonNullable<ParseArgsConfig['options']>

/** The options, for a command that takes no arguments beside them. */
export const readOptions = <T extends OptionTypes>(args: readonly string[], options: T) =>
  understand(() => parseArgs({ args: [...args], options })).values

/** The options as `values`, the other arguments as `positionals`. */
export const readArguments = <T extends OptionTypes>(args: readonly string[], options: T) =>
  understand(() => parseArgs({ args: [...args], allowPositionals: true, options }))

/** Arguments that the parser of Node refuses are the caller's mistake; any other failure is a bug. */
function understand<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
      throw new UsageError(firstSentence(error))
    throw error
  }
}

/** The rest is advice for other programs. */
const firstSentence = ({ message }: Error): string => message.split(/\.\s/, 1)[0] ?? message

/** A minus would be read as the start of an option. */
export function withNegativeScore(argv: readonly string[]): string[] {
  const at = argv.findIndex((word, index) => word === '--score' && /^-[\d.]/.test(argv[index + 1] ?? ''))
  return at < 0 ? [...argv] : [...argv.slice(0, at), `--score=${argv[at + 1]}`, ...argv.slice(at + 2)]
}

export function scoreOf(text: string | undefined): number {
  if (text === undefined) throw new UsageError('--score is missing: say how good it was, as a number')
  const score = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(score)) return score
  throw new UsageError('--score must be a finite number, such as 1, 0.5 or -2')
}

/** Without a trailing slash. */
export function serviceUrl(text: string | undefined): string {
  if (text === undefined) throw new UsageError('--url is missing: say where the service answers')
  refuse('--url', urlProblem(text))
  return withoutSlash(text)
}

export function scenarioName(text: string | undefined): string {
  const name = text?.trim() ?? ''
  if (name === '') throw new UsageError('--scenario is missing: say which scenario is meant')
  refuse('--scenario', scenarioProblem(name))
  return name
}

/** The one argument that is no option. */
export function onlyArgument(positionals: readonly string[], what: string): string {
  const [first, second] = positionals
  if (first === undefined || first === '') throw new UsageError(`name ${what}`)
  if (second !== undefined) throw new UsageError(`one argument is enough; ${second} is one too many`)
  return first
}

export function noArgument([first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`${first} is one argument too many`)
}

export function wholeNumber(option: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(`${option} must be a whole number from ${min} to ${max}`)
}

export function tokenIn(env: NodeJS.ProcessEnv): string | null {
  const value = env[TOKEN_VARIABLE]?.trim() ?? ''
  if (value === '') return null
  refuse(TOKEN_VARIABLE, tokenProblem(value))
  return value
}

function refuse(option: string, problem: string | null): void {
  if (problem !== null) throw new UsageError(`${option} ${problem}`)
}
