/** The cards about the reason of a step: why it was taken, its author's design, its review, and what must be set up. */
import {
  formatted,
  stepName,
  type SetupItem,
  type StepComment,
  type StepDesign,
  type StepReason,
  type StepRejection,
  type StepReview,
  type StepSetup,
} from '../presentation/index.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { placeOfStep, requestLink, versionLink } from './places.ts'
import { code, inline, listed, moment, prose } from './prose.ts'
import type { PageView } from './view.ts'

export function whyCard(view: PageView, { intro, text, isQuoted, session, requestId }: StepReason): Html {
  if (!isQuoted) return card('Why', markup`<p>${text}</p>`)
  return card(
    'Why',
    markup`<p>${intro}${requestId === null && session !== null && markup` in session ${code(session)}`}:</p>
      <blockquote>${prose(text)}</blockquote>
      ${requestId !== null && markup`<p class="cut">${requestLink(view, requestId, 'The request and its progress')}</p>`}`,
  )
}

/** Nothing of a step that no person rejected. */
export function rejectionPart(view: PageView, rejection: StepRejection | null): Piece {
  if (rejection === null) return null
  const place = placeOfStep(view.releases, rejection.step)
  const row = place === undefined ? undefined : view.releases.get(place)
  return markup`<p>A person rejected it${place !== undefined && row !== undefined && markup`, by the ${versionLink(view, place, stepName(row, place))}`}:</p>
    <blockquote>${prose(rejection.reason)}</blockquote>`
}

const COMMENTS_SHOWN_MAX = 100

/** Nothing of a release of which nobody said anything. */
export const commentsPart = (comments: readonly StepComment[]): Piece =>
  comments.length > 0 && [markup`<h3>Comments</h3>`, comments.slice(0, COMMENTS_SHOWN_MAX).map(commentOf)]

const commentOf = ({ by, at, text }: StepComment): Html =>
  markup`<p class="cut">${by === null ? 'A person' : inline(by)}, ${moment(at)}</p>
    <blockquote>${prose(text)}</blockquote>`

/** Nothing where no design was kept. */
export function designCard(design: StepDesign | null): Html | null {
  if (design === null) return null
  const { plan, howToUse } = design
  return card(
    'Design',
    plan !== '' && prose(plan),
    howToUse !== '' &&
      markup`<h3>How to use</h3>
        ${prose(howToUse)}`,
  )
}

/** Nothing where there was no review and nothing was found. */
export function reviewCard(review: StepReview | null): Html | null {
  if (review === null) return null
  const { covered, uncovered, undeclared, dropped, attempts } = review
  return card(
    'Review',
    verdictOf(review),
    points('Covered', 'yes', covered),
    points('Not covered', 'no', uncovered),
    undeclared.length > 0 &&
      markup`<div class="box warn">
        <h3>Read from the environment and not declared</h3>
        <ul>
          ${listed(undeclared, (name) => markup`<li>${code(name)}</li>`)}
        </ul>
      </div>`,
    points('Left out of the proposal', 'no', dropped),
    attempts > 1 && markup`<p class="cut">It took ${formatted(attempts)} answers to write it.</p>`,
  )
}

function verdictOf({ failure, result, tone, meaning }: StepReview): Piece {
  if (failure !== null)
    return markup`<div class="box warn">
      <h3>Not reviewed</h3>
      ${prose(failure)}
    </div>`
  return result !== null && markup`<p class="summary ${tone}"><b>${inline(result)}${meaning !== '' && '.'}</b> ${meaning}</p>`
}

const points = (title: string, mark: 'yes' | 'no', texts: readonly string[]): Piece =>
  texts.length > 0 &&
  markup`<h3>${title}</h3>
    <ul class="points ${mark}">
      ${listed(texts, (text) => markup`<li>${inline(text)}</li>`)}
    </ul>`

/** What a person must set up: for this step, for earlier ones, and what was refused. */
export function setupCard({ own, carried, refused }: StepSetup): Html {
  if (own.length + carried.length + refused.length === 0) return card('Setup', markup`<p>Nothing has to be set up for it.</p>`)
  return card(
    'Setup',
    own.length > 0 && [markup`<h3>Asked for by this step</h3>`, needsList(own)],
    carried.length > 0 && [markup`<h3>From earlier steps of the chain</h3>`, needsList(carried)],
    refused.length > 0 &&
      markup`<h3>Refused by the step</h3>
        <ul class="needs">
          ${listed(
            refused,
            ({ item, reason }) =>
              markup`<li>
                <code>${inline(item)}</code>
                <p>${inline(reason)}</p>
              </li>`,
          )}
        </ul>`,
  )
}

export const needsList = (items: readonly SetupItem[]): Html =>
  markup`<ul class="needs">
    ${listed(
      items,
      ({ name, kind, prompt, check }) =>
        markup`<li>
          <code>${inline(name)}</code> <span class="kind">${inline(kind)}</span>${prompt !== null && markup`<p>${inline(prompt)}</p>`}${
            check !== null && markup`<p class="cut">Checked by ${code(check)}</p>`
          }
        </li>`,
    )}
  </ul>`
