/** The document around every page: head, header with the way home, hero with title and status, main, footer. */
import { showHidden } from '../kit/index.ts'
import { markup, styleMarkup, type Html, type Piece } from './html.ts'
import { inline } from './prose.ts'
import { EXPLAINED, type StepTone } from '../presentation/index.ts'
import { STYLE } from './style.ts'

/** `title` takes the place of the word where the interface fixes another one for the pages. */
export interface PageStatus {
  readonly word: string
  readonly title?: string
  readonly tone: StepTone | 'busy'
}

export interface Frame {
  readonly title: string
  readonly section: 'Versions' | 'Requests' | 'Sign-in'
  readonly scenario: string | null
  /** Where the logo and the first crumb lead; null where that is no other page. */
  readonly home: string | null
  readonly eyebrow: Piece
  readonly subtitle: Piece
  /** What to read first: sentences. */
  readonly lead?: readonly string[]
  /** The result of a step, before the lead. */
  readonly headline?: string | null
  readonly status: PageStatus
  /** Between the hero and the cards, such as the way to neighbouring steps. */
  readonly below?: Html
  readonly reloads?: boolean
  readonly isWide?: boolean
  readonly main: Piece
  /** After everything that is seen. */
  readonly data?: Html
}

/** How often a page that is not finished asks for itself again. */
const RELOAD_SECONDS = 5

export function documentOf(frame: Frame): string {
  const { title, scenario } = frame
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${showHidden(scenario === null ? title : `${title} - ${scenario}`)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
${frame.reloads === true && markup`<meta http-equiv="refresh" content="${RELOAD_SECONDS}">`}
<style>${styleMarkup(STYLE)}</style>
</head>
<body${frame.isWide === true && markup` class="broad"`}>
<a class="skip" href="#main">Skip to content</a>
${headerOf(frame)}
<main id="main">
${heroOf(frame)}
${frame.below ?? null}
${frame.main}
</main>
<footer><p>Made by svc when it was opened; nothing on it is kept.</p></footer>
${frame.data ?? null}
</body>
</html>
`
  return page.text
}

function headerOf({ section, scenario, home }: Frame): Html {
  return markup`<header>
    <nav aria-label="Breadcrumb">
      ${home === null ? markup`<span class="logo">${LOGO}</span>` : markup`<a class="logo" href="${home}" aria-label="The version that is served">${LOGO}</a>`}
      <ol>
        <li>${section === 'Sign-in' ? 'Service' : home === null ? 'Harness' : markup`<a href="${home}">Harness</a>`}</li>
        <li>${section}</li>
      </ol>
    </nav>
    ${
      scenario !== null &&
      markup`<p class="scenario">
        <span>Scenario</span> <b><bdi>${scenario}</bdi></b>
      </p>`
    }
  </header>`
}

/** Releases that grow out of each other. */
const LOGO = markup`<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
  <path d="M6 19V9.5a4 4 0 0 1 4-4h6M6 19h6a6 6 0 0 0 6-6V12" />
  <circle cx="6" cy="19" r="2.5" />
  <circle cx="18" cy="5.5" r="2.5" />
  <circle cx="18" cy="11" r="1" />
</svg>`

function heroOf({ eyebrow, title, subtitle, headline = null, lead = [], status }: Frame): Html {
  return markup`<div class="hero">
    <div>
      <p class="eyebrow">${eyebrow}</p>
      <h1>${title}</h1>
      <p class="sub">${subtitle}</p>
      ${headline !== null && markup`<p class="lead" title="${EXPLAINED.headline}"><b>${inline(headline)}</b></p>`}
      ${lead.length > 0 && markup`<ul class="lead">${lead.map((sentence) => markup`<li>${inline(sentence)}</li>`)}</ul>`}
    </div>
    ${pill(status)}
  </div>`
}

export const pill = ({ word, title = word, tone }: PageStatus): Html => markup`<p class="pill ${tone}"><span>${title}</span></p>`

/** One section of a page. */
export const card = (title: string, ...content: readonly Piece[]): Html =>
  markup`<section class="card">
    <h2>${title}</h2>
    ${content}
  </section>`
