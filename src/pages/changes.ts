/** The card of a step's changes: what they may do, and every mutation with its entry, new ones as they are, others compared with what they were. */
import type { Entry } from '../contract/index.ts'
import {
  changesOf,
  counted,
  madeRelease,
  objectAt,
  textsAt,
  timeFor,
  withGaps,
  type ChangeBlock,
  type DiffGap,
  type DiffLine,
  type EntryChange,
  type StepPowers,
} from '../presentation/index.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { placeOf, versionLink } from './places.ts'
import { powersPart } from './powers.ts'
import { inline, leftOut, listed } from './prose.ts'
import type { PageRow, PageView } from './view.ts'

/** In markup: what one entry, and what all of a page's changes may take. */
const ENTRY_BYTES_MAX = 20_000
const CHANGES_BYTES_MAX = 60_000
/** Once this is used up, texts are shown without a comparison: other requests wait meanwhile. */
const COMPARING_MILLISECONDS_MAX = 500
/** A change of more lines does not fit a page. */
const LINE_EDITS_MAX = 500
/** No entry of a tree is larger. */
const CHARACTERS_MAX = 512 * 1024

export function changesCard(title: string, view: PageView, row: PageRow, before: readonly Entry[] | null, powers: StepPowers | null): Html {
  const { changes, more } = changesOf(row.metrics, before, {
    timeLeft: timeFor(COMPARING_MILLISECONDS_MAX),
    lineEditsMax: LINE_EDITS_MAX,
    charactersMax: CHARACTERS_MAX,
  })
  if (changes.length === 0) return card(title, powersPart(powers), emptyWords(view, row))
  const page = new MarkupBudget(CHANGES_BYTES_MAX)
  const shown = changes.map((change, index) => articleOf(change, index + 1, new MarkupBudget(ENTRY_BYTES_MAX, page)))
  return card(title, powersPart(powers), shown, more > 0 && markup`<p class="cut">and ${counted(more, 'more mutation')}</p>`)
}

function emptyWords(view: PageView, row: PageRow): Html {
  switch (row.operation) {
    case 'create':
      return markup`<p>Nothing yet: every later version is a change of this tree.</p>`
    case 'promote':
    case 'rollback':
      return markup`<p>Nothing of its own: it publishes the content of ${againWords(view, row.rollback_target_release_id)} once more.</p>`
    case 'withdraw':
      return markup`<p>Nothing: it ends the provisional release ${againWords(view, row.rollback_target_release_id)}.</p>`
    case 'reject':
      return markup`<p>Nothing: it rejects ${againWords(view, row.rollback_target_release_id)}, which was held for review.</p>`
    case 'comment':
      return markup`<p>Nothing: it is about ${againWords(view, row.rollback_target_release_id)}, which was held for review.</p>`
    case 'shipped':
      if (row.pending) return markup`<p>The seed of the recipe, in place of what was imported.</p>`
      return shippedWords(textsAt(objectAt(row.metrics, 'shipped_content_update'), 'entries'))
    default:
      return madeRelease(row)
        ? markup`<p>The step kept no list of its changes.</p>`
        : markup`<p>Nothing: the step made no change that could be tried.</p>`
  }
}

function againWords(view: PageView, target: string | undefined): Piece {
  const place = target === undefined ? undefined : placeOf(view.releases, target)
  return place === undefined ? 'an earlier release' : versionLink(view, place, `v${place}`)
}

function shippedWords(entries: readonly string[]): Html {
  if (entries.length === 0) return markup`<p>The same entries, rendered by a newer version of the service.</p>`
  return markup`<p>Entries that come with the service, as its present version has them:</p>
    <ul>
      ${listed(entries, (id) => markup`<li><code>${inline(id)}</code></li>`)}
    </ul>`
}

/** How much markup texts may become, so that none can make a page large. */
class MarkupBudget {
  #left: number
  readonly #whole: MarkupBudget | null

  /** Of a whole, no more than is left there. */
  constructor(bytes: number, whole: MarkupBudget | null = null) {
    this.#left = bytes
    this.#whole = whole
  }

  /** Whether it fits; after the first that does not, nothing does. */
  take(made: Html): boolean {
    const fits = made.text.length <= this.#left && (this.#whole === null || this.#whole.take(made))
    this.#left = fits ? this.#left - made.text.length : 0
    return fits
  }
}

function articleOf({ op, tone, id, entryKind, lacksBefore, blocks }: EntryChange, number: number, budget: MarkupBudget): Html {
  const label = `Change ${number}, text of ${id.slice(0, 100)}`
  return markup`<article class="change">
    <h3>
      <span class="tag ${tone}">${inline(op)}</span> <code>${inline(id)}</code>
      <span class="kind">${inline(entryKind)}</span>
    </h3>
    ${lacksBefore && markup`<p class="cut">What it replaces cannot be read any more.</p>`} ${blocks.map((block) => blockOf(block, label, budget))}
  </article>`
}

function blockOf(block: ChangeBlock, label: string, budget: MarkupBudget): Piece {
  switch (block.kind) {
    case 'note':
      return markup`<p class="cut">${block.text}</p>`
    case 'settings':
      return markup`<pre class="json">${wholeText(block.text, budget)}</pre>`
    case 'removed':
      return markup`<div class="text" dir="auto"><del>${wholeText(block.text, budget)}</del></div>`
    case 'code':
      // Prose wraps; code stays as it is and scrolls, by keyboard too.
      return markup`<pre class="code" tabindex="0" role="region" aria-label="${label}"><code>${wholeText(block.text, budget)}</code></pre>`
    case 'text':
      return markup`<div class="text" dir="auto">${wholeText(block.text, budget)}</div>`
    default:
      return [
        block.of === 'settings' && markup`<p class="cut">Settings</p>`,
        block.diff === null
          ? markup`<p class="cut">The two texts are too different to be compared line by line; this is the new one.</p>
              <div class="text" dir="auto">${wholeText(block.after, budget)}</div>`
          : markup`<div class="diff">${changedLines(withGaps(block.diff.lines), budget)}</div>`,
      ]
  }
}

/** A text that does not fit is cut at a multiple of this. */
const CHUNK_CHARACTERS = 500

function wholeText(text: string, budget: MarkupBudget): Html {
  const shown: Html[] = []
  let length = 0
  while (length < text.length) {
    const chunk = chunkAt(text, length)
    const made = markup`${chunk}`
    if (!budget.take(made)) break
    shown.push(made)
    length += chunk.length
  }
  return markup`${shown}${length < text.length && markup`<b>${leftOut(text.length - length)}</b>`}`
}

/** Never half of a surrogate pair. */
function chunkAt(text: string, start: number): string {
  const chunk = text.slice(start, start + CHUNK_CHARACTERS)
  return /[\ud800-\udbff]$/.test(chunk) ? text.slice(start, start + CHUNK_CHARACTERS + 1) : chunk
}

function changedLines(lines: readonly (DiffLine | DiffGap)[], budget: MarkupBudget): Html {
  const shown: Html[] = []
  for (const line of lines) {
    const made = lineOf(line)
    if (!budget.take(made)) break
    shown.push(made)
  }
  const left = lines.length - shown.length
  return markup`${grouped(lines, shown)}${left > 0 && markup`<b>[${counted(left, 'more line')} of this change left out of this page]</b>`}`
}

function lineOf(line: DiffLine | DiffGap): Html {
  if (line.kind === 'gap') return markup`<b>${counted(line.count, 'unchanged line')}</b>`
  const parts = line.parts.map(({ text, isMarked }) => (isMarked ? markup`<mark>${text}</mark>` : markup`${text}`))
  if (line.kind === 'same') return markup`<span>  ${parts}</span>`
  return line.kind === 'removed' ? markup`<del>- ${parts}</del>` : markup`<ins>+ ${parts}</ins>`
}

/** Lines that replace each other stand together, so that a wide page can set them side by side. */
function grouped(lines: readonly (DiffLine | DiffGap)[], shown: readonly Html[]): readonly Html[] {
  const isChange = (index: number): boolean => lines[index]?.kind === 'removed' || lines[index]?.kind === 'added'
  return shown.map((made, index) => {
    const opens = isChange(index) && !isChange(index - 1)
    const closes = isChange(index) && (!isChange(index + 1) || index === shown.length - 1)
    return markup`${opens && OPENED}${made}${closes && CLOSED}`
  })
}
const OPENED = markup`<div>`
const CLOSED = markup`</div>`
