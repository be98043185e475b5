/** Files with a token in a person's project are kept out of git, by lines of ours in the `.gitignore` of the harness's folder. */
import { constants } from 'node:fs'
import { lstat, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ifAbsent, Stop } from './failure.ts'
import type { Installation } from './installation.ts'
import { SHARED } from './whole-file.ts'

type Bound = Pick<Installation, 'binding' | 'placeholders'>

const REASON = '# Written by svc: these files hold a token.'

/** Git passes over a link of that name, so the token would not be ignored. */
export async function requireIgnorable(destination: string): Promise<void> {
  const path = ignorePath(destination)
  const found = await lstat(path).catch(ifAbsent)
  if (found === null || found.isFile()) return
  throw new Stop(`${path} is no plain file, so git would not ignore the token beside it; move it away and run the same command again`)
}

/** Adds what is missing; the person's own lines stay as they are. */
export async function ignoreSecrets(destination: string, installation: Bound): Promise<void> {
  const text = (await readFile(ignorePath(destination), 'latin1').catch(ifAbsent)) ?? ''
  const there = new Set(text.split(/\r?\n/))
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
  const secret = Object.keys(binding).filter((path) => binding[path]?.includes(placeholders.token) === true)
  return secret.length === 0 ? [] : [REASON, ...secret.map((path) => `/${escaped(path)}`), '/.svc-harness-writing-*']
}

const escaped = (path: string): string => path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)
