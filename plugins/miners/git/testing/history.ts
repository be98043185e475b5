/** Real repositories for tests, made with real git. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface TestHistory {
  readonly folder: string
  git(...args: readonly string[]): string
  /** Writes files (null removes one), commits, and returns the id. */
  commit(message: string, files: Readonly<Record<string, string | Buffer | null>>): string
}

const WHO = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false', '-c', 'core.hooksPath=/dev/null']

export function historyIn(folder: string): TestHistory {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', folder, ...WHO, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      .toString()
      .trim()
  git('init', '--quiet', '--initial-branch=main')
  return {
    folder,
    git,
    commit(message, files) {
      for (const [path, text] of Object.entries(files)) {
        const place = join(folder, path)
        if (text === null) rmSync(place)
        else {
          mkdirSync(dirname(place), { recursive: true })
          writeFileSync(place, text)
        }
      }
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '--allow-empty-message', '--cleanup=verbatim', '-m', message)
      return git('rev-parse', 'HEAD')
    },
  }
}

/** A test of one function, for `node --test`. */
export const nodeTest = (module: string, name: string, assertion: string): string =>
  `import test from 'node:test'\nimport assert from 'node:assert/strict'\nimport { ${name} } from '${module}'\ntest('${name}', () => { ${assertion} })\n`
