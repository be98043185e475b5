/** The search of a page. Without it the page has everything else. */
import { findSections, type Hit, type IndexedPage } from './search.ts'

declare global {
  /** What the file of the index sets: a page that was opened without a server may load it too. */
  var svcPages: readonly IndexedPage[] | undefined
}

const root = document.documentElement.dataset['root'] ?? ''
begin()

function begin(): void {
  const form = document.querySelector<HTMLFormElement>('form[role=search]')
  const input = document.querySelector<HTMLInputElement>('#search')
  const results = document.querySelector<HTMLElement>('#results')
  if (form === null || input === null || results === null) return
  form.hidden = false
  const show = async (): Promise<void> => {
    const question = input.value
    const pages = await indexedPages().catch(() => null)
    // The person typed on meanwhile, and that is answered next.
    if (question === input.value) fill(results, question, pages)
  }
  input.addEventListener('focus', () => void indexedPages().catch(() => undefined), { once: true })
  input.addEventListener('input', () => void show())
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    results.querySelector('a')?.click()
  })
  document.addEventListener('keydown', (event) => onKey(event, input, results))
}

let loading: Promise<readonly IndexedPage[]> | null = null

/** Loaded when a person begins to search, since few pages are opened for that. */
function indexedPages(): Promise<readonly IndexedPage[]> {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${root}search-index.js`
    script.addEventListener('load', () => resolve(globalThis.svcPages ?? []))
    script.addEventListener('error', () => {
      loading = null
      reject(new Error('the index could not be loaded'))
    })
    document.head.append(script)
  })
  return loading
}

function fill(results: HTMLElement, question: string, pages: readonly IndexedPage[] | null): void {
  results.hidden = question.trim() === ''
  if (pages === null) return results.replaceChildren(words('p', 'The index of the search could not be loaded; reload the page.'))
  const hits = findSections(pages, question)
  if (hits.length === 0) return results.replaceChildren(words('p', 'Nothing found. Try fewer or other words.'))
  const list = document.createElement('ol')
  list.append(...hits.map(itemOf))
  results.replaceChildren(list)
}

function itemOf({ title, heading, address, excerpt }: Hit): HTMLElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = root + address
  link.append(words('strong', heading === '' ? title : `${title}: ${heading}`), words('span', excerpt))
  item.append(link)
  return item
}

function words(name: string, text: string): HTMLElement {
  const element = document.createElement(name)
  element.textContent = text
  return element
}

function onKey(event: KeyboardEvent, input: HTMLInputElement, results: HTMLElement): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const { activeElement } = document
  if (event.key === '/' && activeElement !== input) {
    event.preventDefault()
    input.select()
  } else if (event.key === 'Escape' && !results.hidden) {
    results.hidden = true
    input.focus()
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !results.hidden) {
    const stops = [input, ...results.querySelectorAll('a')]
    const at = stops.findIndex((stop) => stop === activeElement)
    const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
    if (at === -1 || next === undefined) return
    event.preventDefault()
    next.focus()
  }
}
