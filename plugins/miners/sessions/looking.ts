/** Whether a command line of a shell plainly only looks, or runs tests. What is not plain may change files. */
import { isTestCommand } from '../../../src/sessions/index.ts'

const CHARACTERS_MAX = 2000

export function onlyLooks(line: string): boolean {
  const commands = line.length > CHARACTERS_MAX ? null : commandsIn(line)
  return commands !== null && commands.length > 0 && commands.every((words) => isLook(words) || isTest(words))
}

/** Without what a shell would fill in: a variable, or what another command prints, may be anything. */
const WORD = /(?:'[^']*'|"(?:[^"\\$`]|\\[^\n]|\$(?=["\s|)]))*"|\\[^\n]|[^\s'"\\$`<>|;&(){}])+/y
/** To nowhere, or into what is printed anyway. */
const REDIRECTION = /&?>>? ?\/dev\/null(?![^\s;|&])|>&[12](?![^\s;|&])/y
const JOINT = /&&|\|\|?|;|\n/y
const BLANK = /[ \t]+/y

/** The words of each command, without their quotes; null where the line holds anything but words and what joins commands. */
function commandsIn(line: string): readonly (readonly string[])[] | null {
  const commands: string[][] = [[]]
  let at = 0
  const next = (shape: RegExp): string | null => {
    shape.lastIndex = at
    const [found = null] = shape.exec(line) ?? []
    at += found?.length ?? 0
    return found
  }
  while (at < line.length) {
    if (next(BLANK) !== null || next(REDIRECTION) !== null) continue
    const word = next(WORD)
    // A comment: quotes in it are none, and some shells know no comments.
    if (word?.startsWith('#') === true) return null
    if (word !== null) commands.at(-1)?.push(unquoted(word))
    else if (next(JOINT) !== null) commands.push([])
    else return null
  }
  return commands.filter((words) => words.length > 0)
}

const unquoted = (word: string): string =>
  word.replace(
    /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])/g,
    (_whole, plain?: string, quoted?: string, escaped?: string) => plain ?? quoted?.replace(/\\([\\"$`])/g, '$1') ?? escaped ?? '',
  )

type Check = (args: readonly string[]) => boolean

const without =
  (option: RegExp): Check =>
  (args) =>
    !args.some((arg) => option.test(arg))

/** Lines of files, by their numbers or by a pattern. */
const ADDRESS = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)`
const PRINTS = new RegExp(String.raw`^(?:${ADDRESS}(?:, *[+]?${ADDRESS})?p(?:; *(?=.)|$))+$`)

/** Each program with what it may be given and still only looks. */
const LOOKERS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ...['cat', 'ls', 'grep', 'head', 'tail', 'wc', 'pwd', 'which', 'stat', 'cd', 'echo', 'true'].map((name) => [name, () => true] as const),
  ['find', without(/^-(?:exec|ok|delete|fprint|fls)/)],
  ['rg', without(/^--(?:pre|hostname-bin)(?:=|$)/)],
  ['tree', without(/^-[a-zA-Z]*[oR]|^--output/)],
  ['file', without(/^-[a-zA-Z]*C|^--c/)],
  ['sed', ([quiet, script = '', ...files]) => quiet === '-n' && PRINTS.test(script) && without(/^-/)(files)],
  // Options of git may be cut short.
  ['git', ([verb = '', ...args]) => /^(?:status|log|diff|show)$/.test(verb) && without(/^--(?:ou|ext)/)(args)],
])

const isLook = ([program = '', ...args]: readonly string[]): boolean => LOOKERS.get(program)?.(args) === true

/** What is told to write down what it sees as what it expects, or to put right what it finds. */
const UPDATES = /^--?(?:u(?:=|$)|update|[\w-]*snapshot|(?:fix|write)(?:=|$))|^(?=[A-Z_]*UPDATE)[A-Z_]+=/

/** In quotes, and behind -c, a test command is only a word of another one. */
const isTest = (words: readonly string[]): boolean =>
  !words.some((word) => /^-l?c$/.test(word) || UPDATES.test(word)) &&
  isTestCommand(words.map((word) => (/[\s;&|'"]/.test(word) ? '_' : word)).join(' '))
