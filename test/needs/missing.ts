/** What a test says when the machine has not what it needs. */
import { relative, join } from 'node:path'
import { expect, inject } from 'vitest'
import { NEEDS, needsOf, type NeedName } from './list.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The reason for each that is not there. */
export type Missing = Readonly<Partial<Record<NeedName, string>>>

declare module 'vitest' {
  interface ProvidedContext {
    missing: Missing
  }
}

/** Throws one line when it could not be had, and when the list does not know that this test needs it: on a fresh machine it would not be there. */
export function demand(name: NeedName): void {
  // Programs that are no tests have seen to it before they began.
  if (process.env['VITEST'] === undefined) return
  const file = relative(ROOT, expect.getState().testPath ?? '')
  if (!needsOf([file]).includes(name)) throw new Error(`${file} needs ${name}: say so in test/needs/list.ts`)
  const reason = inject('missing')[name]
  if (reason !== undefined) throw new Error(lineOf({ [name]: reason }))
}

/** Names by reason, and the command that gets those that are in packages. */
export function lineOf(missing: Missing): string {
  const names = needNames(missing)
  const reasons = [...new Set(names.map((name) => missing[name]))]
  const groups = reasons.map((reason) => `${names.filter((name) => missing[name] === reason).join(', ')} (${reason})`)
  const packages = names.flatMap((name) => NEEDS[name].packages)
  const cure = packages.length === 0 ? '' : `; as root: apt-get install -y ${packages.join(' ')}`
  return `not on this machine, and needed by tests: ${groups.join('; ')}${cure}`
}

const needNames = (missing: Missing): readonly NeedName[] => Object.keys(missing).filter((name): name is NeedName => name in NEEDS)
