/** Explains an error at start: what is wrong and what to change, without a stack. */
import { resolve } from 'node:path'
import { debuglog } from 'node:util'
import { ConfigProblem, type LoadedConfig } from '../config/index.ts'
import { isRefusal } from '../contract/index.ts'
import { codeOf } from '../kit/index.ts'

export interface Explained {
  readonly found: string
  readonly fix?: string
}

/** One check of doctor. A warning stops nothing; a problem keeps the service from starting or working. */
export interface Finding extends Explained {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'problem'
}

const debug = debuglog('svc')
const OTHER_DIRECTORY = 'change its owner or set another directory under storage'

/** Node error codes with a known cause and fix. Refusals of the service have both in their message. */
const KNOWN: Readonly<Record<string, (error: Error, loaded: LoadedConfig | null) => Explained>> = {
  EADDRINUSE: (_, loaded) => ({ found: `port ${portOf(loaded)} is in use`, fix: 'stop the other process or set svc.port' }),
  EADDRNOTAVAIL: (_, loaded) => ({ found: `${hostOf(loaded)} is not an address of this machine`, fix: 'set svc.host' }),
  ENOTFOUND: (_, loaded) => ({ found: `${hostOf(loaded)} is not a known host`, fix: 'set svc.host' }),
  EACCES: (error, loaded) =>
    isListening(error)
      ? { found: `no right to listen on port ${portOf(loaded)}`, fix: 'set svc.port to 1024 or above' }
      : { found: `no right to use ${pathOf(error, loaded)}`, fix: OTHER_DIRECTORY },
  // A write that fails does not say where.
  ENOSPC: (error, loaded) =>
    loaded === null
      ? { found: 'the disk that this writes to is full', fix: 'free some space' }
      : { found: `the disk of ${pathOf(error, loaded)} is full`, fix: 'free some space, or set another directory under storage' },
  EROFS: (error, loaded) => ({ found: `${pathOf(error, loaded)} is on a read-only disk`, fix: OTHER_DIRECTORY }),
  ENOTDIR: (error, loaded) => ({ found: `${pathOf(error, loaded)} is not a directory`, fix: 'set another directory under storage' }),
}

export function explain(error: unknown, loaded: LoadedConfig | null): readonly Explained[] {
  debug('%o', error)
  if (error instanceof ConfigProblem) return error.problems.map(splitMessage)
  if (!(error instanceof Error)) return [{ found: String(error) }]
  if (!isRefusal(error)) return [KNOWN[codeOf(error) ?? '']?.(error, loaded) ?? { found: firstLine(error) }]
  const { found, fix } = splitMessage(firstLine(error))
  return [{ found: found + placeOf(error.code, loaded), ...(fix === undefined ? {} : { fix }) }]
}

export function printError(error: unknown, loaded: LoadedConfig | null, surroundings: { readonly err: (line: string) => void }): void {
  for (const { found, fix } of explain(error, loaded)) surroundings.err(fix === undefined ? found : `${found}: ${fix}`)
}

/** Messages of the service end in the fix, after the last semicolon. */
export function splitMessage(message: string): Explained {
  const cut = message.lastIndexOf('; ')
  return cut === -1 ? { found: message } : { found: message.slice(0, cut), fix: message.slice(cut + 2) }
}

/** The folder that a refusal is about. Its message names none, since clients may see it. */
function placeOf(code: string, loaded: LoadedConfig | null): string {
  if (loaded === null || code.startsWith('git_')) return ''
  return code.includes('repository') || /^(?:remote|bucket)_/.test(code)
    ? ` (releases are in ${repositoryOf(loaded)})`
    : ` (records are in ${recordsOf(loaded)})`
}

const firstLine = (error: Error): string => error.message.split('\n', 1).join('') || error.name
const portOf = (loaded: LoadedConfig | null): number => loaded?.config.svc.port ?? 0
const hostOf = (loaded: LoadedConfig | null): string => loaded?.config.svc.host ?? 'the host'
const recordsOf = (loaded: LoadedConfig | null): string => loaded?.config.storage.agent_record_dir ?? resolve('.')
const repositoryOf = (loaded: LoadedConfig | null): string => loaded?.config.storage.artifact_repository ?? resolve('.')
const isListening = (error: Error): boolean => 'syscall' in error && error.syscall === 'listen'
const pathOf = (error: Error, loaded: LoadedConfig | null): string =>
  'path' in error && typeof error.path === 'string' ? error.path : recordsOf(loaded)
