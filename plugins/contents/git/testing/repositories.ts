/** Verbs for the tests of this folder: a repository of the test's own, and what git itself says about it. */
import { execFileSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { chmodSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ContentStore, Files, Release, SealMark } from '../../../../src/contract/index.ts'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import git from '../index.ts'

const MARK: SealMark = { step: 1, operation: 'train', at: 1_763_180_000 }

export const freshPath = (): string => join(temporaryFolder(), 'artifacts.git')

/** An empty repository elsewhere. */
export function freshRemote(): string {
  const path = freshPath()
  execFileSync('git', ['init', '-q', '--bare', path])
  return path
}

export const freshCache = (): string => dirname(freshPath())

/** Answers how it comes back. */
export function takeAway(remote: string): () => void {
  renameSync(remote, `${remote}.away`)
  return () => renameSync(`${remote}.away`, remote)
}

export function hook(repository: string, name: string, body: string): void {
  mkdirSync(join(repository, 'hooks'), { recursive: true })
  writeProgram(join(repository, 'hooks', name), body)
}

export function writeProgram(path: string, body: string): void {
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
}

export async function open(repository: string): Promise<ContentStore> {
  return git.plugin.make({ repository })
}

export function gitSays(repository: string, ...args: string[]): string {
  return execFileSync('git', [`--git-dir=${repository}`, ...args], { encoding: 'utf8', stdio: 'pipe' })
}

export function fsck(repository: string): void {
  gitSays(repository, 'fsck', '--strict', '--full', '--no-dangling')
}

export function refsOf(repository: string): Record<string, string> {
  const lines = gitSays(repository, 'for-each-ref', '--format=%(refname) %(objectname)').split('\n').filter(Boolean)
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]))
}

export async function fresh(): Promise<{ path: string; store: ContentStore }> {
  const path = freshPath()
  return { path, store: await open(path) }
}

export async function publish(store: ContentStore, files: Files, parent: Release | null = null, mark = MARK): Promise<Release> {
  return store.seal(await store.write({ kind: 'files', files }), parent, mark)
}

export function packEverything(repository: string): void {
  const ids = looseObjects(repository).map((name) => `${name.replace('/', '')}\n`)
  execFileSync('git', ['pack-objects', '-q', join(repository, 'objects', 'pack', 'pack')], { cwd: repository, input: ids.join('') })
  gitSays(repository, 'prune-packed')
}

export function looseObjects(repository: string): string[] {
  return readdirSync(join(repository, 'objects'), { recursive: true, encoding: 'utf8' }).filter((name) => /^..\/.{38}$/.test(name))
}

export async function countSpawns(body: () => Promise<void>): Promise<number> {
  let count = 0
  const listen = (): void => {
    count += 1
  }
  subscribe('child_process', listen)
  try {
    await body()
  } finally {
    unsubscribe('child_process', listen)
  }
  return count
}
