/** What a held release may do, in the service's own words: for a person who is about to try it. */
import { showHiddenLine } from '@svc-ai/client/hidden'
import { field, ServiceFailure, TOKEN_VARIABLE, type CatalogRow, type Svc } from '@svc-ai/client/shared'

const REASONS_MAX = 8
const CHARACTERS_MAX = 600

export function heldLines({ metrics }: Pick<CatalogRow, 'metrics'>): readonly string[] {
  const [because, listed] = [field(metrics, 'held_because'), field(metrics, 'power_reasons')]
  const reasons: readonly unknown[] = Array.isArray(listed) ? listed : []
  const why = reasons
    .filter((reason) => field(reason, 'power') !== 'words')
    .map((reason) => `  ${wordsAt(reason, 'entry') ?? 'an entry'}: ${wordsAt(reason, 'why') ?? 'no reason was kept'}`)
  const more = why.length > REASONS_MAX ? [`  and ${why.length - REASONS_MAX} more`] : []
  const first = typeof because === 'string' ? `it is held for a person: ${shortened(because)}` : NOT_KNOWN
  return [first, ...why.slice(0, REASONS_MAX), ...more]
}

const NOT_KNOWN = 'it is held for a person; what it may do on this machine is not known'

function wordsAt(from: unknown, name: string): string | null {
  const value = field(from, name)
  return typeof value === 'string' ? shortened(value) : null
}

const shortened = (text: string): string => showHiddenLine(text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)} …` : text)

/** Nothing of a release that is not held. A service that does not show its releases to this token is no reason to stop. */
export async function heldLinesOf(service: Svc, release: string): Promise<readonly string[]> {
  try {
    const row = (await service.catalog()).find((each) => each.release_id === release && each.pending)
    return row === undefined ? [] : heldLines(row)
  } catch (error) {
    if (error instanceof ServiceFailure) return [NOT_READ]
    throw error
  }
}

/** Of a release that was named. */
export const NOT_SHOWN = `the service has no such release for this token; one that waits for review is shown to a token that may read it, which is read from ${TOKEN_VARIABLE}`

const NOT_READ = 'what this release may do on this machine could not be read from the service'
