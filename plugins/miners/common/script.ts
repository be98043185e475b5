/** The script that puts the tests of a commit in place, runs them by the lines of a runner, and says which of them ran. */
import { posix } from 'node:path'
import type { Files } from '../../../src/contract/index.ts'

/** The additions of a runner to the script. */
export interface RunnerParts {
  /** Runs where the tests are loaded, and tells of their end: `verify/first`, and more files. */
  readonly told?: Files
  /** Names of settings that the agent may not choose, in whatever folder. */
  readonly settings?: readonly string[]
}

const STORE = 'verify/tests'
export const under = (files: Files): Files => Object.fromEntries(Object.entries(files).map(([path, text]) => [`${STORE}/${path}`, text]))

/** The agent's files give way: tests that the commit takes away, folders that are links or files, and settings that tests would load. */
export function scriptOf(
  { told = {}, settings = [] }: RunnerParts,
  lines: readonly string[],
  { placed, removed, programs }: Record<'placed' | 'removed' | 'programs', readonly string[]>,
): string {
  const folders = foldersOfAll(placed)
  return [
    '# Puts the tests of the commit in place, and runs them. A shell that has read all of it is not told otherwise by what it runs.',
    ...FUNCTIONS,
    'main() {',
    ...(settings.length > 0 && !settings.includes('Makefile')
      ? [`find . \\( ${settings.map((name) => `-name ${name}`).join(' -o ')} \\) -not -path './verify/*' -exec rm -rf {} +`]
      : []),
    // Through a link something else would be removed.
    ...foldersOfAll(removed).map((folder) => `if [ -L ${pathWord(folder)} ]; then rm -f ${pathWord(folder)}; fi`),
    ...removed.map((path) => `rm -rf ${pathWord(path)}`),
    ...folders.map(
      (folder) =>
        `if [ -L ${pathWord(folder)} ] || [ ! -d ${pathWord(folder)} ]; then rm -rf ${pathWord(folder)}; mkdir ${pathWord(folder)}; fi`,
    ),
    ...placed.map((path) => `rm -rf ${pathWord(path)}; cp ${pathWord(`${STORE}/${path}`)} ${pathWord(path)} || exit 126`),
    // A workspace keeps texts alone. Behind a link is something else.
    ...(programs.length === 0
      ? []
      : [`for each in ${programs.map(pathWord).join(' ')}; do if [ -f "$each" ] && [ ! -L "$each" ]; then chmod +x "$each"; fi; done`]),
    ...Object.keys(told).map((name) => `${name}=$(cat verify/${name}) || exit 126`),
    'ran= wanted=$(cat verify/ran 2>/dev/null)',
    // A runner that looks for tests everywhere would find them twice.
    'rm -rf ./verify',
    ...lines,
    'if [ -n "$wanted" ] && [ "$wanted" != "ran$ran" ]; then echo "the tests that ran are not those of the task: ran$ran, and not $wanted" >&2; exit 1; fi',
    'echo "ran$ran"',
    'exit 0',
    '}',
    'main',
    '',
  ].join('\n')
}

/** The program that starts the tests has the key, and writes it beside what ran once they have ended. */
const FUNCTIONS = [
  "random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \\n'; }",
  'begin() {',
  'key=$(random); id=$(random); room=$(mktemp -d) && printf %s "$key" > "$room/key" || exit 126',
  '[ -z "$1" ] || printf "%s\\n" "$first" > "$room/$1" || exit 126',
  '}',
  'unfinished() { echo "the tests ended before all of them had run" >&2; exit 1; }',
  'finish() {',
  'said=$(cat "$room/said" 2>/dev/null); rm -rf "$room"',
  'case $said in "$key "*) ran="$ran ${said#* }" ;; *) unfinished ;; esac',
  '}',
  '# By what was printed: the pattern of a line that names a test, and what is not one of the task.',
  'finishAs() {',
  'names=$(printf "%s\\n" "$said" | sed -n "s/$1/\\\\1/p" | grep -v "$2" | LC_ALL=C sort); rm -rf "$room"',
  'ran="$ran $(printf "%s\\n" "$names" | grep -c .):$(printf %s "$names" | cksum | tr " " -)"',
  '}',
]

/** Those on top first. */
const foldersOfAll = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.flatMap(foldersOf))].sort((a, b) => a.length - b.length)

function foldersOf(path: string): readonly string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [...foldersOf(folder), folder]
}

/** Begins with ./ so that no path is an option. */
export const pathWord = (path: string): string => quoted(`./${path}`)

export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
