/** Three small repositories with a real history and real tests: JavaScript, Python and shell. The same on every machine, down to the ids of commits. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Files } from '../../src/contract/index.ts'

/** One commit: a function with its test. Each has words that no other has. */
interface Part {
  readonly name: string
  readonly words: string
  /** What the function adds to its argument. */
  readonly add: number
}

/** How one language writes the functions, and what an agent gets wrong there until its rules say otherwise. */
export interface RepositoryKind {
  readonly title: string
  readonly root: Files
  readonly path: (name: string) => string
  readonly right: (part: Part) => string
  readonly wrong: (part: Part) => string
  readonly test: (part: Part) => Files
  /** What the tests say of the wrong code alone. */
  readonly mistake: RegExp
  readonly lesson: string
}

export const RULES = '# Rules\n\nBe brief.\n'

const PARTS: readonly Part[] =
  `kettle:boils pale green tea before dawn|harbour:moors seven wooden boats at dusk|lantern:lights narrow stairs behind the mill|
orchard:picks sour cherries every July|tunnel:carries slow freight under mountains|violin:tunes four gut strings by ear|
glacier:moves broken rocks toward valleys|pencil:draws thin grey maps of islands|compass:points sailors past hidden reefs|
bakery:kneads heavy rye dough overnight|chimney:draws thick smoke above slate roofs|ladder:reaches dusty shelves near windows|
meadow:feeds brown horses through autumn|anchor:holds iron ships against currents|candle:melts yellow wax onto brass plates|
quarry:cuts white marble into blocks|sparrow:gathers dry straw for nests|thimble:guards tired fingers from needles|
windmill:grinds golden barley on hills|saddle:fits young riders without slipping|turnip:grows purple roots in cold soil|
whistle:calls lost dogs across fields|blanket:warms newborn lambs during storms|hammer:drives square nails through oak`
    .split('|')
    .map((line, at) => {
      const [name = '', words = ''] = line.trim().split(':')
      return { name, words, add: at * 3 + 2 }
    })

export const KINDS = {
  javascript: {
    title: 'JavaScript with node --test',
    root: { 'package.json': '{"type":"module"}\n' },
    path: (name) => `${name}/index.mjs`,
    right: ({ name, add }) => `export const ${name} = (given) => given + ${add}\n`,
    wrong: ({ add }) => `export default (given) => given + ${add}\n`,
    test: ({ name, add }) => ({
      [`${name}/index.test.mjs`]: `import assert from 'node:assert'\nimport { test } from 'node:test'\nimport { ${name} } from './index.mjs'\ntest('${name}', () => assert.equal(${name}(1), ${add + 1}))\n`,
    }),
    mistake: /does not provide an export named/,
    lesson: 'Write every function as a named export.',
  },
  python: {
    title: 'Python with unittest',
    root: { 'setup.py': '# Nothing to build.\n' },
    path: (name) => `${name}.py`,
    right: ({ name, add }) => `def of_${name}(given):\n    return given + ${add}\n`,
    wrong: ({ name, add }) => `def of${name.charAt(0).toUpperCase()}${name.slice(1)}(given):\n    return given + ${add}\n`,
    test: ({ name, add }) => ({
      [`tests/test_${name}.py`]: `import unittest\n\nfrom ${name} import of_${name}\n\n\nclass Test(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(of_${name}(1), ${add + 1})\n`,
    }),
    mistake: /cannot import name/,
    lesson: 'Name every function in snake case, its words joined by underscores.',
  },
  shell: {
    title: 'shell with make test',
    root: { Makefile: 'test:\n\t@for each in tests/*.sh; do sh $$each || exit 1; done\n' },
    path: (name) => `bin/${name}.sh`,
    right: ({ add }) => `echo $(($1 + ${add}))\n`,
    wrong: ({ add }) => `echo "The result is $(($1 + ${add}))."\n`,
    test: ({ name, add }) => ({
      [`tests/${name}.sh`]: `said=$(sh bin/${name}.sh 1)\ntest "$said" = ${add + 1} || { echo "wanted a number, and it said: $said" >&2; exit 1; }\n`,
    }),
    mistake: /it said: The result is/,
    lesson: 'Print the bare result, without words around it.',
  },
} as const satisfies Readonly<Record<string, RepositoryKind>>

/** Whose names and dates are always the same. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
}

/** Also where another user owns the folder. */
export const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: folder, encoding: 'utf8', env: { ...ENVIRONMENT, ...dates } })

const dates = { GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z', GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z' }

/** Its rules say nothing of what is got wrong; one file holds an edit that is not committed. */
export function makeRepository(folder: string, { root, path, right, test }: RepositoryKind, parts: number): void {
  const commit = (files: Files, message: string): void => {
    for (const [place, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, place)), { recursive: true })
      writeFileSync(join(folder, place), text)
    }
    git(folder, 'add', '-A')
    git(folder, 'commit', '-qm', message)
  }
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '-q', '-b', 'main')
  commit({ 'AGENTS.md': RULES, 'notes.txt': 'one\n', ...root }, 'Begin')
  for (const part of PARTS.slice(0, parts))
    commit(
      { [path(part.name)]: right(part), ...test(part) },
      `Add the function ${part.name}\n\nThe function ${part.name} ${part.words}, and adds ${part.add} to its argument.`,
    )
  writeFileSync(join(folder, 'notes.txt'), 'two\n')
}

/** The part that a prompt asks for. */
export const partIn = (prompt: string): Part | undefined => PARTS.find(({ name }) => prompt.includes(`Add the function ${name}`))
