/** The card of what a step changes: every mutation with its entry, new ones as they are, others held against what they were. */
import { isObject, PROPOSAL_MUTATIONS_MAX, type Entry, type Json, type JsonObject } from '../contract/index.ts'
import { diffOf, Watch } from './diff.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { versionLink } from './links.ts'
import { counted, inline, listed } from './prose.ts'
import { objectAt, objectsAt, textAt, textsAt } from './read.ts'
import { changedLines, Room, wholeText } from './room.ts'
import { placeOf } from './status.ts'
import type { CatalogRow, PageView } from './view.ts'

/** In markup: what one entry, and what all of a page's changes may become. */
const ENTRY_BYTES_MAX = 20_000
const CHANGES_BYTES_MAX = 60_000
/** Everything is shown without a comparison once this is used up. */
const COMPARING_MILLISECONDS_MAX = 500

export function changesCard(title: string, view: PageView, row: CatalogRow, before: readonly Entry[] | null): Html {
  const mutations = mutationsOf(row.metrics)
  if (mutations.length === 0) return card(title, emptyWords(view, row))
  const tree = before === null ? null : new Map(before.map((entry) => [entry.id, entry]))
  const board = { tree, room: new Room(CHANGES_BYTES_MAX), watch: new Watch(COMPARING_MILLISECONDS_MAX) }
  const shown = mutations.slice(0, PROPOSAL_MUTATIONS_MAX).map((mutation, index) => changeOf(mutation, index + 1, board))
  const more = mutations.length - shown.length
  return card(title, shown, more > 0 && markup`<p class="cut">and ${counted(more, 'more mutation')}</p>`)
}

function mutationsOf(metrics: JsonObject): readonly JsonObject[] {
  const { mutation } = metrics
  return isObject(mutation) ? [mutation] : objectsAt(metrics, 'mutations')
}

function emptyWords(view: PageView, { operation, result, rollback_target_release_id: target, metrics }: CatalogRow): Html {
  switch (operation) {
    case 'create':
      return markup`<p>Nothing yet: every later version is a change of this tree.</p>`
    case 'promote':
    case 'rollback':
      return markup`<p>Nothing of its own: it publishes the content of ${againWords(view, target)} once more.</p>`
    case 'shipped':
      return shippedWords(textsAt(objectAt(metrics, 'shipped_content_update'), 'entries'))
    default:
      return result === 'published' || result === 'pending'
        ? markup`<p>The step kept no list of its changes.</p>`
        : markup`<p>Nothing: the step came to no change that could be tried.</p>`
  }
}

function againWords(view: PageView, target: string | undefined): Piece {
  const place = target === undefined ? undefined : placeOf(view.releases, target)
  return place === undefined ? 'an earlier release' : versionLink(view, place, `v${place}`)
}

function shippedWords(entries: readonly string[]): Html {
  if (entries.length === 0) return markup`<p>The same entries, rendered anew by a newer version of the service.</p>`
  return markup`<p>Entries that come with the service, as its present version has them:</p>
    <ul>
      ${listed(entries, (id) => markup`<li><code>${inline(id)}</code></li>`)}
    </ul>`
}

interface Board {
  /** The tree as the mutations so far left it; null when nobody knows what it was. */
  readonly tree: Map<string, Entry> | null
  readonly room: Room
  readonly watch: Watch
}

function changeOf(mutation: JsonObject, number: number, { tree, room, watch }: Board): Html {
  const op = textAt(mutation, 'op') ?? 'unknown'
  const id = textAt(mutation, 'id') ?? 'unnamed'
  const old = tree?.get(id) ?? null
  const now = op === 'remove' ? null : entryOf(id, old, objectAt(mutation, 'options'))
  if (now === null) tree?.delete(id)
  else tree?.set(id, now)
  const label = `Change ${number}, text of ${id.slice(0, 100)}`
  return markup`<article class="change">
    <h3>
      <span class="tag ${OP_TONES[op] ?? 'calm'}">${inline(op)}</span> <code>${inline(id)}</code>
      <span class="kind">${inline((now ?? old)?.name ?? '')}</span>
    </h3>
    ${bodyOf({ op, old, now, label }, new Room(ENTRY_BYTES_MAX, room), watch)}
  </article>`
}

const OP_TONES: Readonly<Record<string, string>> = { create: 'good', update: 'warn', remove: 'bad' }

/** What is left out of an update stays as it was. */
function entryOf(id: string, old: Entry | null, { name, config, disabled }: JsonObject): Entry {
  return {
    id,
    name: typeof name === 'string' ? name : (old?.name ?? ''),
    config: isObject(config) ? config : (old?.config ?? {}),
    ...((typeof disabled === 'boolean' ? disabled : old?.disabled === true) && { disabled: true }),
  }
}

interface Change {
  readonly op: string
  readonly old: Entry | null
  readonly now: Entry | null
  readonly label: string
}

function bodyOf({ op, old, now, label }: Change, room: Room, watch: Watch): Piece {
  if (now === null) return old === null ? null : struck(old, room)
  if (old === null || op === 'create') {
    const { text, isCode, rest } = partsOf(now)
    const unknown = op === 'update' && markup`<p class="cut">What it replaces cannot be read any more.</p>`
    return [
      unknown,
      text !== '' && block(text, isCode, label, room),
      rest !== '' && markup`<pre class="json">${wholeText(rest, room)}</pre>`,
    ]
  }
  const [was, is] = [partsOf(old), partsOf(now)]
  if (was.text === is.text && was.rest === is.rest) return markup`<p class="cut">It is as it was.</p>`
  return [
    was.text !== is.text && compared(was.text, is.text, room, watch),
    was.rest !== is.rest &&
      markup`<p class="cut">Settings</p>
        ${compared(was.rest, is.rest, room, watch)}`,
  ]
}

interface Parts {
  readonly text: string
  readonly isCode: boolean
  /** Everything but the text, as JSON; empty where there is nothing else. */
  readonly rest: string
}

/** What people read of an entry, and the rest of it. */
function partsOf({ config, disabled }: Entry): Parts {
  const field = ['text', 'code', 'prompt'].find((name) => typeof config[name] === 'string') ?? ''
  const { [field]: text, ...others } = config
  const rest: Record<string, Json> = { ...others, ...(disabled === true && { disabled }) }
  return {
    text: typeof text === 'string' ? text : '',
    isCode: field === 'code',
    rest: Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 2),
  }
}

/** Prose takes new lines where the page ends; code is left as it is and can be moved, by keyboard too. */
function block(text: string, isCode: boolean, label: string, room: Room): Html {
  return isCode
    ? markup`<pre class="code" tabindex="0" role="region" aria-label="${label}"><code>${wholeText(text, room)}</code></pre>`
    : markup`<div class="text" dir="auto">${wholeText(text, room)}</div>`
}

function struck(old: Entry, room: Room): Piece {
  const { text, rest } = partsOf(old)
  const gone = text === '' ? rest : text
  return gone !== '' && markup`<div class="text" dir="auto"><del>${wholeText(gone, room)}</del></div>`
}

function compared(before: string, after: string, room: Room, watch: Watch): Html {
  const lines = diffOf(before, after, watch)
  if (lines !== null) return markup`<div class="diff">${changedLines(lines, room)}</div>`
  return markup`<p class="cut">The two texts are too different to be compared line by line; this is the new one.</p>
    <div class="text" dir="auto">${wholeText(after, room)}</div>`
}
