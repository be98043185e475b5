/** The lock of an agent's program: the bytes of every package are named in it, so that nothing else can arrive. */
import { field, parseJson } from '@svc-ai/client/shared'
import { Stop } from './failure.ts'
import type { VendorInstall } from './installation.ts'

const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/
const PLACE = /^node_modules\/(?!.*(?:^|\/)\.{1,2}(?:\/|$))/

/** A package of it may come in another's archive, whose bytes are named. */
export function requireLocked({ package: name, version, lock }: VendorInstall, what: string): void {
  const packages = field(parseJson(lock ?? ''), 'packages')
  if (typeof packages !== 'object' || packages === null) throw unfit(what, 'it is no lock of npm')
  if (field(field(packages, `node_modules/${name}`), 'version') !== version) throw unfit(what, `it does not lock ${name} ${version}`)
  for (const [place, entry] of Object.entries(packages)) {
    if (place === '') continue
    const problem = problemOf(place, entry)
    if (problem !== null) throw unfit(what, `${JSON.stringify(place)} ${problem}`)
  }
}

function problemOf(place: string, entry: unknown): string | null {
  if (!PLACE.test(place)) return 'is no place below node_modules'
  if (field(entry, 'link') !== undefined) return 'is a link'
  if (field(entry, 'resolved') !== undefined) return 'names where it comes from'
  if (field(entry, 'inBundle') === true && place.split('node_modules/').length > 2) return null
  const integrity = field(entry, 'integrity')
  return typeof integrity === 'string' && INTEGRITY.test(integrity) ? null : 'has no sha512 integrity'
}

const unfit = (what: string, problem: string): Stop =>
  new Stop(`the lock of ${what} cannot be installed by: ${problem}; ask the operator of the service for an adapter with a whole lock`)
