/** One list of the models of several upstreams, in the shape of `GET /v1/models`. */
import {
  API_OF_FORMAT,
  isObject,
  upstream as refusal,
  type JsonObject,
  type ModelsCall,
  type WholeAnswer,
} from '../../../src/contract/index.ts'
import { dialectsByApi, filledText, objectsOf, parsed } from '../../../src/dialects/index.ts'
import { ask } from './ask.ts'
import { hasModel } from './choose.ts'
import { keyFor, type NamedUpstream } from './upstreams.ts'

const LIST_SECONDS_MAX = 10
const PAGES_MAX = 20
const PAGE_BYTES_MAX = 8 * 1024 * 1024
const LIST_PATH = '/v1/models'

type Entry = JsonObject & { readonly id: string }

/** An upstream that does not list its models still has those that the configuration names. Throws where nothing is known of any. */
export async function listTogether(
  upstreams: readonly NamedUpstream[],
  call: ModelsCall,
  clientKeyOrigins: readonly string[],
): Promise<WholeAnswer> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(LIST_SECONDS_MAX * 1000)])
  const asked = await Promise.allSettled(upstreams.map((upstream) => entriesOf(upstream, { ...call, signal }, clientKeyOrigins)))
  const lists = upstreams.map((upstream, index) => {
    const list = asked[index]
    return servedNames(upstream, list?.status === 'fulfilled' ? list.value : [])
  })
  const byName = new Map<string, Entry>()
  for (const entry of lists.flat()) if (!byName.has(entry.id)) byName.set(entry.id, entry)
  const failure = asked.find((list) => list.status === 'rejected')
  if (byName.size === 0 && failure !== undefined) throw failure.reason
  return { kind: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body: printed([...byName.values()]) }
}

/** Clients of both shapes find what they look for: one reads only the data, the other also whether there is more. */
function printed(data: readonly Entry[]): Buffer {
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
  return Buffer.from(JSON.stringify({ object: 'list', data, has_more: false, ...ends }))
}

/** Under the names of clients: what the upstream has of what it may be asked for, and its aliases. */
function servedNames(upstream: NamedUpstream, listed: readonly Entry[]): readonly Entry[] {
  const known = new Map(listed.map((entry) => [entry.id, entry]))
  const plain = listed.length > 0 ? listed.map(({ id }) => id) : (upstream.models ?? []).filter((name) => !name.endsWith('*'))
  const names = [...plain.filter((name) => hasModel(upstream, name)), ...upstream.aliases.keys()]
  return names.map((id) => ({ ...(known.get(upstream.nameOf(id)) ?? bare(id, upstream.name)), id }))
}

const bare = (id: string, owner: string): Entry => ({ id, object: 'model', created: 0, owned_by: owner })

async function entriesOf(upstream: NamedUpstream, call: ModelsCall, clientKeyOrigins: readonly string[]): Promise<readonly Entry[]> {
  const { headers, signal } = call
  const { connections, name, formats } = upstream
  const dialect = dialectsByApi[API_OF_FORMAT[formats[0] ?? 'chat']]
  const whom = { name: `the upstream ${name}`, setting: `inference.upstreams.${name}` }
  const key = keyFor(upstream, dialect, call, clientKeyOrigins)
  const entries: Entry[] = []
  let path = LIST_PATH
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await ask(connections, { dialect, path, headers, signal, key, whom, body: null, bytesMax: PAGE_BYTES_MAX })
    if (answer.kind !== 'whole' || answer.status !== 200) throw unlisted(name, answer.kind === 'whole' ? answer.status : 200)
    const list = parsed(Buffer.from(answer.body).toString())
    if (!isObject(list)) throw unlisted(name, 200)
    for (const entry of entriesIn(list)) entries.push(entry)
    const last = filledText(list['last_id'])
    if (list['has_more'] !== true || last === null) break
    path = `${LIST_PATH}?after_id=${encodeURIComponent(last)}`
  }
  return entries
}

/** Most list them as `data` with ids, one as `models` with names that begin with `models/`. */
function entriesIn({ data, models }: JsonObject): readonly Entry[] {
  const plain = objectsOf(data).flatMap((row) => (typeof row['id'] === 'string' ? [{ ...row, id: row['id'] }] : []))
  const named = objectsOf(models).flatMap(({ name }) => (typeof name === 'string' ? [bare(name.replace(/^models\//, ''), 'google')] : []))
  return [...plain, ...named]
}

const unlisted = (name: string, status: number): Error =>
  refusal('upstream_refused', `the upstream ${name} did not list its models (status ${status}); check its key under inference.upstreams`)
