/** Files with a token in a person's project are kept out of git, by lines of ours in the `.gitignore` of the harness's folder. */
import { constants } from 'node:fs'
import { lstat, open, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { childEnvironment } from '@svc-ai/client/shared'
import { ifAbsent, Stop } from './failure.ts'
import type { Installation } from './installation.ts'
import { runProgram, withoutNearPrograms } from './programs.ts'
import { readPlain, SHARED } from './whole-file.ts'

type Bound = Pick<Installation, 'binding' | 'placeholders'>

const GIT_SECONDS_MAX = 10
const IGNORE_BYTES_MAX = 256 * 1024 * 1024
const REASON = '# Written by svc: these files hold a token.'

/** Git passes over a link of that name, and a file nearer to the token wins over ours: then the token would not be ignored. */
export async function requireIgnorable(destination: string, installation: Bound, env: NodeJS.ProcessEnv): Promise<void> {
  const path = ignorePath(destination)
  const found = await lstat(path).catch(ifAbsent)
  if (found !== null && !found.isFile())
    throw new Stop(`${path} is no plain file, so git would not ignore the token beside it; move it away and run the same command again`)
  const secrets = secretsIn(installation)
  for (const secret of secrets) await requireUntracked(destination, secret, env)
  for (const folder of foldersOf(secrets)) {
    const nearer = ignorePath(join(destination, folder))
    const lines = linesIn((await readPlain(nearer, IGNORE_BYTES_MAX)) ?? '')
    if (lines.some(showsAgain))
      throw new Stop(
        `${nearer} has a line that begins with !, so git might not ignore the token beside it; remove it and run the same command again`,
      )
  }
}

/** What git tracks it goes on tracking, whatever is ignored: a project could bring such a file. */
async function requireUntracked(destination: string, path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const place = join(destination, path)
  const folder = await nearestFolder(dirname(place))
  const words = [
    '--literal-pathspecs',
    '-C',
    folder,
    '-c',
    'core.fsmonitor=false',
    'ls-files',
    '--error-unmatch',
    '--',
    relative(folder, place),
  ]
  const options = { env: withoutNearPrograms(childEnvironment(env)), timeoutSeconds: GIT_SECONDS_MAX }
  const { code } = await runProgram('git', words, options).catch(() => ({ code: null }))
  if (code === 0)
    throw new Stop(
      `${place} would hold a token, and git tracks it; run git rm --cached on it, or name another folder as the first argument`,
    )
}

async function nearestFolder(path: string): Promise<string> {
  const isFolder = (await stat(path).catch(() => null))?.isDirectory() === true
  return isFolder || dirname(path) === path ? path : nearestFolder(dirname(path))
}

/** Every folder on the way to these files, but the first. */
const foldersOf = (paths: readonly string[]): ReadonlySet<string> =>
  new Set(
    paths.flatMap((path) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, index, all) => all.slice(0, index + 1).join('/')),
    ),
  )

const linesIn = (text: string): readonly string[] => text.split(/\r?\n/)

/** Shows again what lines before it hid. */
const showsAgain = (line: string): boolean => line.startsWith('!')

/** Adds what is missing, or no longer the last word; the person's own lines stay as they are. */
export async function ignoreSecrets(destination: string, installation: Bound): Promise<void> {
  const text = (await readFile(ignorePath(destination), 'latin1').catch(ifAbsent)) ?? ''
  const lines = linesIn(text)
  const there = new Set(lines.slice(lines.findLastIndex(showsAgain) + 1))
  const missing = linesOf(installation).filter((line) => !there.has(line))
  if (missing.every((line) => line === REASON)) return
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  const file = await open(ignorePath(destination), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, SHARED)
  try {
    await file.writeFile(`${text === '' || text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** When the harness goes: the file goes with it, unless it holds a line of the person's. */
export async function forgetIgnored(destination: string, installation: Bound): Promise<void> {
  const path = ignorePath(destination)
  if ((await lstat(path).catch(ifAbsent))?.isFile() !== true) return
  const ours = new Set(linesOf(installation))
  const lines = (await readFile(path, 'latin1')).split('\n').filter((line) => line !== '')
  if (lines.every((line) => ours.has(line))) await rm(path, { force: true })
}

const ignorePath = (destination: string): string => join(destination, '.gitignore')

/** A file is made in a folder of its writer's own first. */
function linesOf({ binding, placeholders }: Bound): readonly string[] {
  const secret = secretsIn({ binding, placeholders })
  return secret.length === 0 ? [] : [REASON, ...secret.map((path) => `/${escaped(path)}`), '/.svc-harness-writing-*']
}

const secretsIn = ({ binding, placeholders }: Bound): readonly string[] =>
  Object.keys(binding).filter((path) => binding[path]?.includes(placeholders.token) === true)

const escaped = (path: string): string => path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)
