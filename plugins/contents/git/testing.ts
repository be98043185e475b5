/** Verbs for the tests of this folder: a repository of the test's own, and what git itself says about it. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ContentStore } from '../../../src/contract/index.ts'
import git from './index.ts'

export function freshPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'contents-git-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'artifacts.git')
}

export async function open(repository: string): Promise<ContentStore> {
  return git.plugin.make({ repository })
}

export function gitSays(repository: string, ...args: string[]): string {
  return execFileSync('git', [`--git-dir=${repository}`, ...args], { encoding: 'utf8', stdio: 'pipe' })
}

/** Throws with git's words when anything is wrong with any object. */
export function fsck(repository: string): void {
  gitSays(repository, 'fsck', '--strict', '--full', '--no-dangling')
}

export function refsOf(repository: string): Record<string, string> {
  const lines = gitSays(repository, 'for-each-ref', '--format=%(refname) %(objectname)').split('\n').filter(Boolean)
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]))
}
