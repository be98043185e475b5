/** Commands of tests that an agent ran, and how they ended: by their exit code where the result says it, else by what test runners print. */
import type { Json } from '../contract/index.ts'
import { isList, isObject, parsed } from '../dialects/index.ts'
import type { SessionStep } from './steps.ts'

interface TestRun {
  /** Of its result. */
  readonly at: number
  /** Null where nothing says how. */
  readonly ended: 'well' | 'badly' | null
}

export function testRunsIn(steps: readonly SessionStep[]): readonly TestRun[] {
  const open: { readonly id: string | null; readonly isTest: boolean }[] = []
  return steps.flatMap((step, at) => {
    if (step.by === 'call') open.push({ id: step.id, isTest: isTestCommand(commandIn(step.input)) })
    if (step.by !== 'result') return []
    const place = open.findIndex(({ id }) => id === step.callId)
    const [call] = open.splice(Math.max(place, 0), 1)
    return call?.isTest === true ? [{ at, ended: endOf(step) }] : []
  })
}

const COMMAND_FIELDS = ['command', 'cmd', 'script', 'commands', 'input']
const COMMAND_CHARACTERS_MAX = 2000

/** The command line of a call to a shell; empty for any other call. */
function commandIn(input: Json): string {
  const fields = typeof input === 'string' ? (parsed(input) ?? input) : input
  const given = isObject(fields) ? COMMAND_FIELDS.map((name) => fields[name]).find((value) => value !== undefined) : fields
  const words = isList(given) ? given.filter((word) => typeof word === 'string') : typeof given === 'string' ? [given] : []
  return words.join(' ')
}

/** After the beginning of the line, or what joins commands. */
const BEGIN = String.raw`(?:^|&&|\|\||[;\n]|\s-l?c\s)[^\S\n]*["']?(?:[A-Z_]+=\S*\s+)*`
const STARTER = String.raw`(?:(?:npx|pnpm|pnpm exec|yarn|bunx|uv run|poetry run|bundle exec|python3? -m)\s+)?`
const RUNNER = [
  String.raw`(?:npm|pnpm|yarn|bun|deno|swift|dotnet|mix|zig build|mvn|gradle|\./gradlew|go|cargo|rake|make|just|composer)\s+(?:run\s+|-\S+\s+)?(?:test|tests|check)\b`,
  String.raw`node\s+(?:--\S+\s+)*--test\b`,
  String.raw`(?:[\w./-]*\/)?(?:vitest|jest|mocha|ava|pytest|py\.test|unittest|tox|nox|rspec|phpunit|ctest|playwright test)\b`,
  String.raw`cargo\s+nextest\b`,
].join('|')
const TEST_COMMAND = new RegExp(`${BEGIN}${STARTER}(?:${RUNNER})`)

export const isTestCommand = (command: string): boolean => TEST_COMMAND.test(command.slice(0, COMMAND_CHARACTERS_MAX))

/** Runners print their summary last. */
const TAIL_CHARACTERS = 4000
const HEAD_CHARACTERS = 400
const EXIT_CODE = /\bexit(?:ed)?(?: with)?[ _]?(?:code|status)?["']?\s*(?:[:=]\s*|(?<=\s))(-?\d+)/i
const FAILED = [
  /\b[1-9]\d* (?:tests? |examples? |specs? )?fail(?:ed|ing|ures?)?\b/i,
  /\bfail(?:ed|ures?|ing)?["']?(?:\s*[:=])?\s+[1-9]\d*\b/i,
  /\bfailures=[1-9]/,
  /^[^\S\n\r\u2028\u2029]*(?:FAIL|FAILED|not ok)\b/m,
  /\btest result: FAILED/,
]
const PASSED = [
  /\b[1-9]\d* (?:tests? |examples? |specs? )?pass(?:ed|ing)?\b/i,
  /^[^\S\n\r\u2028\u2029]*[#ℹ]? ?pass [1-9]/m,
  /^[^\S\n\r\u2028\u2029]*(?:PASS|OK|ok)\b/m,
  /\btest result: ok/,
  /\b[1-9]\d* examples?, 0 failures/,
]

function endOf({ text, isError }: Extract<SessionStep, { by: 'result' }>): TestRun['ended'] {
  const shown =
    text.length <= TAIL_CHARACTERS + HEAD_CHARACTERS ? text : `${text.slice(0, HEAD_CHARACTERS)}\n${text.slice(-TAIL_CHARACTERS)}`
  const [, code] = EXIT_CODE.exec(shown) ?? []
  if (isError || (code !== undefined && code !== '0')) return 'badly'
  if (FAILED.some((shape) => shape.test(shown))) return 'badly'
  return code === '0' || PASSED.some((shape) => shape.test(shown)) ? 'well' : null
}
