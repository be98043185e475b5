/** The machine of a run, which a result needs to be comparable. Holds no paths. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { portkeyVersion } from './contestants.ts'
import { nginxVersion } from './nginx.ts'
import { installedVersion } from './python.ts'

/** Load averages per core above which results are noisy or meaningless. */
const NOISY_LOAD_PER_CORE = 0.25
const BUSY_LOAD_PER_CORE = 0.75

export type Environment = ReturnType<typeof readEnvironment>

export function readEnvironment(directory: string) {
  return {
    node: process.version,
    kernel: release(),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    fileSystem: fileSystemOf(directory),
    nginx: nginxVersion() ?? 'absent',
    portkey: portkeyVersion() ?? 'absent',
    litellm: installedVersion('litellm'),
    reef: installedVersion('reef'),
    commit: commit(),
    loadAverage: loadavg(),
  }
}

export function busyness(): 'idle' | 'noisy' | 'busy' {
  const perCore = (loadavg()[0] ?? 0) / cpus().length
  if (perCore >= BUSY_LOAD_PER_CORE) return 'busy'
  return perCore >= NOISY_LOAD_PER_CORE ? 'noisy' : 'idle'
}

/** Type and options of the mount that holds the data: `ext4 rw,relatime`. */
function fileSystemOf(directory: string): string {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, point = '-']) => directory === point || directory.startsWith(point.endsWith('/') ? point : `${point}/`))
    .toSorted(([, a = ''], [, b = '']) => b.length - a.length)
  const [, , type = 'unknown', options = ''] = mounts[0] ?? []
  return `${type} ${options}`.trim()
}

function commit(): string {
  try {
    return git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' with changes')
  } catch {
    return 'unknown'
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}
