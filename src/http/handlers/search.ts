/** Searching records: what the query asks for, and what a store that cannot search answers. */
import {
  invalid,
  SEARCH_TEXT_CHARACTERS_MAX,
  SEARCH_WORDS_MAX,
  TAGS_MAX,
  unsupported,
  type FoundRecordList,
  type ListedRecord,
  type RecordRow,
  type ScenarioStore,
  type SearchQuery,
} from '../../contract/index.ts'
import { countCodePoints, searchTerms } from '../../kit/index.ts'
import type { HttpContext } from '../context.ts'
import { liveJson, type HttpReply } from '../reply.ts'
import { nameInPath, oneOf, pageLimit, REQUEST_TYPES, wholeNumber } from '../request-fields.ts'

export async function search(context: HttpContext): Promise<HttpReply> {
  const { services, query } = context
  const name = nameInPath(context)
  const asked = searchQuery(query)
  return services.registry.use(name, async ({ store }) => {
    if (store.search === undefined)
      throw unsupported(
        'search_unsupported',
        'the record store of this service cannot search, or its search is switched off; list the records',
      )
    const { rows, next, waiting } = await store.search.find(asked)
    return liveJson({ scenario: name, records: rows, next_before_sequence: next, waiting } satisfies FoundRecordList)
  })
}

/** Adds the first words to rows. A store that cannot search has none. */
export async function withExcerpts({ search: own }: ScenarioStore, rows: readonly RecordRow[]): Promise<readonly ListedRecord[]> {
  const excerpts = await own?.excerpts(rows.map(({ sequence }) => sequence))
  return rows.map((row) => {
    const excerpt = excerpts?.get(row.sequence)
    return excerpt === undefined ? row : { ...row, excerpt }
  })
}

function searchQuery(query: URLSearchParams): SearchQuery {
  const [text, model, release, quotes] = [textOf(query), query.get('model'), query.get('release_id'), query.get('quotes')]
  const [type, status] = [oneOf(query, 'request_type', REQUEST_TYPES), oneOf(query, 'status', ['complete', 'broken_off'])]
  const [scoreMin, scoreMax] = [numberIn(query, 'min_score'), numberIn(query, 'max_score')]
  const [since, until] = [numberIn(query, 'since'), numberIn(query, 'until')]
  const tags = query.getAll('tag').map(tagOf)
  if (tags.length > TAGS_MAX) throw invalid('invalid_query', `tag: at most ${TAGS_MAX} of them`)
  return {
    ...(text !== null && { text }),
    ...(type !== null && { type }),
    ...(model !== null && { model }),
    ...(release !== null && { release }),
    ...(status !== null && { status }),
    ...(quotes !== null && { quotes }),
    ...(scoreMin !== null && { scoreMin }),
    ...(scoreMax !== null && { scoreMax }),
    ...(since !== null && { since }),
    ...(until !== null && { until }),
    ...(tags.length > 0 && { tags }),
    before: wholeNumber(query, 'before_sequence', Number.MAX_SAFE_INTEGER),
    limit: pageLimit(query),
  }
}

function textOf(query: URLSearchParams): string | null {
  const text = query.get('text')
  if (text === null) return null
  const terms = searchTerms(text)
  if (terms.length === 0) throw invalid('invalid_query', 'text: must hold a word to look for; leave it out to search without')
  const words = terms.reduce((sum, term) => sum + term.words.length, 0)
  if (words > SEARCH_WORDS_MAX || countCodePoints(text) > SEARCH_TEXT_CHARACTERS_MAX)
    throw invalid('invalid_query', `text: holds at most ${SEARCH_WORDS_MAX} words and ${SEARCH_TEXT_CHARACTERS_MAX} characters`)
  return text
}

/** The name of a tag is that of a header, so it holds no colon. */
function tagOf(text: string): readonly [name: string, value: string] {
  const at = text.indexOf(':')
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || value === '') throw invalid('invalid_query', "tag: must be a name and a value, such as 'user:alice'")
  return [name, value]
}

function numberIn(query: URLSearchParams, name: string): number | null {
  const text = query.get(name)
  if (text === null) return null
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw invalid('invalid_query', `${name}: must be a number`)
  return value
}
