/** The document around every page of the site: the way home, the search, the page, and all pages. */
import { markup, type Html, type Piece } from '../src/pages/html.ts'
import type { Heading } from './markdown.ts'
import { hrefBetween, rootFrom } from './places.ts'

export interface NavigationGroup {
  readonly name: string
  readonly pages: readonly { readonly title: string; readonly path: string }[]
}

export interface FramedPage {
  readonly title: string
  /** Its file on the site; null for the page about a missing page, which may be shown at any address. */
  readonly path: string | null
  readonly headings: readonly Heading[]
  readonly main: Html
}

export function framed({ title, path, headings, main }: FramedPage, groups: readonly NavigationGroup[]): string {
  const root = path === null ? '/' : rootFrom(path)
  const to = (target: string): string => (path === null ? `/${hrefBetween('', target)}` : hrefBetween(path, target))
  const page = markup`<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<title>${title === 'svc' ? title : `${title} - svc`}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${to('site.css')}">
<link rel="icon" href="${to('icon.svg')}">
<script src="${to('site.js')}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="home" href="${to('index.html')}">svc</a>
<form role="search" hidden>
<input id="search" type="search" placeholder="Search (press /)" aria-label="Search the documents" autocomplete="off" spellcheck="false">
<div id="results" role="status" hidden></div>
</form>
<a class="to-pages" href="#pages">All pages</a>
</header>
<main id="main" tabindex="-1">
${main}
</main>
<nav id="pages" aria-label="Pages">
${groups.map((group) => groupOf(group, to, path, headings))}
</nav>
</body>
</html>
`
  return page.text
}

function groupOf({ name, pages }: NavigationGroup, to: (path: string) => string, here: string | null, headings: readonly Heading[]): Html {
  const item = ({ title, path }: NavigationGroup['pages'][number]): Html =>
    path === here
      ? markup`<li><a href="${to(path)}" aria-current="page">${title}</a>${sectionsOf(headings)}</li>`
      : markup`<li><a href="${to(path)}">${title}</a></li>`
  return markup`<h2>${name}</h2><ul>${pages.map(item)}</ul>`
}

function sectionsOf(headings: readonly Heading[]): Piece {
  const shown = headings.filter(({ depth }) => depth === 2)
  if (shown.length === 0) return null
  return markup`<ul>${shown.map(({ text, anchor }) => markup`<li><a href="#${encodeURIComponent(anchor)}">${text}</a></li>`)}</ul>`
}
