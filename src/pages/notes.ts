/** The cards that tell why a step was taken, what its author designed, and what a second look at it found. */
import type { JsonObject } from '../contract/index.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { requestLink } from './links.ts'
import { code, counted, formatted, inline, listed, prose } from './prose.ts'
import { numberAt, objectAt, textAt, textsAt } from './read.ts'
import { statusOf } from './status.ts'
import type { CatalogRow, PageView } from './view.ts'

/** What a person asked for, else what an agent proposed, else what failed, else where the row came from. */
export function whyCard(view: PageView, row: CatalogRow): Html {
  const { metrics } = row
  return card(
    'Why',
    askedFor(view, objectAt(metrics, 'training_request')) ?? proposed(objectAt(metrics, 'proposal')) ?? otherwise(view, row),
  )
}

function askedFor(view: PageView, request: JsonObject): Html | null {
  const [id, text] = [textAt(request, 'id'), textAt(request, 'text')]
  if (id === null && text === null) return null
  return markup`<p>A person asked for this:</p>
    <blockquote>${prose(text ?? 'The text of the request is not kept.')}</blockquote>
    ${id !== null && markup`<p class="cut">${requestLink(view, id, 'The request and how it went')}</p>`}`
}

function proposed(proposal: JsonObject): Html | null {
  const [id, reason] = [textAt(proposal, 'id'), textAt(proposal, 'reason')]
  if (id === null && reason === null) return null
  const session = textAt(proposal, 'session')
  return markup`<p>An agent proposed this${session !== null && markup` in session ${code(session)}`}:</p>
    <blockquote>${prose(reason ?? 'It gave no reason.')}</blockquote>`
}

function otherwise({ releases }: PageView, row: CatalogRow): Piece {
  const { metrics, operation } = row
  const failure = textAt(metrics, 'error') ?? textAt(objectAt(metrics, 'proposal_notes'), 'failure')
  if (failure !== null)
    return markup`<p>The step failed:</p>
      <blockquote>${prose(failure)}</blockquote>`
  if (operation !== 'train') return markup`<p>${statusOf(releases, row).meaning}</p>`
  const units = numberAt(metrics, 'traces')
  return markup`<p>The step learned from traffic${units !== null && units > 0 && `: ${counted(units, 'reported sample')}`}.</p>`
}

/** Nothing where no design was kept. */
export function designCard(metrics: JsonObject): Html | null {
  const design = textAt(objectAt(metrics, 'proposal_notes'), 'design')
  if (design === null) return null
  const { plan, use } = splitDesign(design)
  return card(
    'Design',
    plan !== '' && prose(plan),
    use !== '' &&
      markup`<h3>How to use</h3>
        ${prose(use)}`,
  )
}

/** A heading, or the opening words of a paragraph. */
const HOW_TO_USE = /^[ \t]*(?:#{1,6}[ \t]*|\*\*|__)?how to use\b[ \t]*(?:\*\*|__)?[ \t]*:?[ \t]*(?:\*\*|__)?/im

function splitDesign(design: string): { readonly plan: string; readonly use: string } {
  const [heading] = HOW_TO_USE.exec(design) ?? []
  if (heading === undefined) return { plan: design.trim(), use: '' }
  const at = design.search(HOW_TO_USE)
  return { plan: design.slice(0, at).trim(), use: design.slice(at + heading.length).trim() }
}

/** Nothing where nobody looked and nothing was found. */
export function reviewCard(metrics: JsonObject): Html | null {
  const notes = objectAt(metrics, 'proposal_notes')
  const review = objectAt(notes, 'review')
  const failure = textAt(notes, 'review_failure')
  const undeclared = [...textsAt(notes, 'undeclared_env'), ...textsAt(metrics, 'undeclared_env')]
  if (Object.keys(review).length === 0 && failure === null && undeclared.length === 0) return null
  return card(
    'Review',
    verdictOf(review, failure),
    points('Covered', 'yes', textsAt(review, 'covered')),
    points('Not covered', 'no', textsAt(review, 'uncovered')),
    undeclared.length > 0 &&
      markup`<div class="box warn">
        <h3>Read from the environment and not declared</h3>
        <ul>
          ${listed(undeclared, (name) => markup`<li>${code(name)}</li>`)}
        </ul>
      </div>`,
    points('Left out of the proposal', 'no', textsAt(notes, 'dropped')),
    attemptsOf(notes),
  )
}

function verdictOf(review: JsonObject, failure: string | null): Piece {
  if (failure !== null)
    return markup`<div class="box warn">
      <h3>Nobody looked at it</h3>
      ${prose(failure)}
    </div>`
  const result = textAt(review, 'result')
  if (result === 'complete') return markup`<p class="summary good"><b>Complete.</b> Every point of the request is covered.</p>`
  if (result === 'partial') return markup`<p class="summary warn"><b>Partial.</b> Some points of the request are not covered.</p>`
  return result !== null && markup`<p class="summary calm"><b>${inline(result)}</b></p>`
}

const points = (title: string, mark: 'yes' | 'no', texts: readonly string[]): Piece =>
  texts.length > 0 &&
  markup`<h3>${title}</h3>
    <ul class="points ${mark}">
      ${listed(texts, (text) => markup`<li>${inline(text)}</li>`)}
    </ul>`

function attemptsOf(notes: JsonObject): Piece {
  const attempts = numberAt(notes, 'attempts')
  return attempts !== null && attempts > 1 && markup`<p class="cut">It took ${formatted(attempts)} answers to write it.</p>`
}
