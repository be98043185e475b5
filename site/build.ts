/** Builds the site: every document, every example, what they show, and the index of the search. A link that leads nowhere is a failure. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, extname, join, posix } from 'node:path'
import { rolldown } from 'rolldown'
import { markup, type Html } from '../src/pages/html.ts'
import type { IndexedPage } from './browser/search.ts'
import { codeMarkup } from './code.ts'
import { documentGroups, documentPages } from './documents.ts'
import { framed, type FramedPage, type NavigationGroup } from './frame.ts'
import { readMarkdown, type Links, type MarkdownPage } from './markdown.ts'
import { addressOf, hrefBetween, isPicture, sitePath } from './places.ts'

/** What is copied as it is. */
const ASSETS = { 'site.css': 'site/style.css', 'icon.svg': 'console/src/icon.svg' }
const OUTSIDE = /^(?:https?|mailto):/
/** Names of files that the documents write as code, and that the site has. */
const EXAMPLES = 'examples/**/*.*'
/** What a search shows last. */
const LAST = new Set(['docs/conformance.md', 'CHANGELOG.md'])
const DARK = /\.(?=\w+$)/

export async function buildSite(root: string, out: string): Promise<void> {
  const site = readSite(root)
  const written: FramedPage[] = [...site.pages].map(([path, page]) => ({
    title: page.title,
    path: sitePath(path),
    headings: page.headings,
    main: page.markup(linksOf(site, path)),
  }))
  if (site.broken.length > 0) throw new Error(`links of the documents lead nowhere:\n${site.broken.join('\n')}`)
  for (const path of site.examples) written.push(exampleOf(site, path))
  for (const folder of site.folders) written.push(folderOf(site, folder))
  written.push(MISSING)
  const write = async (name: string, text: string | Buffer): Promise<void> => {
    await mkdir(dirname(join(out, name)), { recursive: true })
    await writeFile(join(out, name), text)
  }
  await Promise.all([
    ...written.map((page) => write(page.path ?? '404.html', framed(page, site.groups))),
    ...[...site.pictures].map((path) => write(sitePath(path), readFileSync(join(root, path)))),
    ...Object.entries(ASSETS).map(([name, from]) => write(name, readFileSync(join(root, from)))),
    write('search-index.js', `globalThis.svcPages = ${JSON.stringify(indexOf(site))}\n`),
    bundleScript(root, join(out, 'site.js')),
  ])
}

interface Site {
  readonly root: string
  readonly pages: ReadonlyMap<string, MarkdownPage>
  readonly examples: ReadonlySet<string>
  /** Those of the examples. */
  readonly folders: ReadonlySet<string>
  readonly groups: readonly NavigationGroup[]
  /** Filled while the pages are made. */
  readonly pictures: Set<string>
  readonly broken: string[]
}

function readSite(root: string): Site {
  const pages = new Map(documentPages(root).map((path) => [path, readMarkdown(readFileSync(join(root, path), 'utf8'), path)]))
  const titled = (path: string) => ({ title: pages.get(path)?.title ?? path, path: sitePath(path) })
  const groups = documentGroups(root).map(({ name, pages: members }) => ({ name, pages: members.map(titled) }))
  const examples = new Set(globSync(EXAMPLES, { cwd: root }).map((path) => path.replaceAll('\\', '/')))
  const folders = new Set([...examples].map((path) => path.split('/').slice(0, 2).join('/')))
  return { root, pages, examples, folders, groups, pictures: new Set(), broken: [] }
}

function linksOf(site: Site, from: string): Links {
  const here = sitePath(from)
  const fail = (href: string): string => {
    site.broken.push(`${from}: ${href}`)
    return '#'
  }
  return {
    link: (href) => {
      if (OUTSIDE.test(href)) return href
      const [place = '', anchor = ''] = href.split('#')
      const target = place === '' ? from : fileOf(site, from, place)
      if (target === null) return fail(href)
      const page = site.pages.get(target)
      if (anchor !== '' && page?.headings.every((heading) => heading.anchor !== decoded(anchor)) !== false) return fail(href)
      return (place === '' ? '' : hrefBetween(here, sitePath(target))) + (anchor === '' ? '' : `#${anchor}`)
    },
    image: (href) => {
      const light = pathFrom(from, href)
      if (!isPicture(light) || !existsSync(join(site.root, light))) return { light: fail(href), dark: null }
      const dark = light.replace(DARK, '-dark.')
      const hasDark = existsSync(join(site.root, dark))
      site.pictures.add(light)
      if (hasDark) site.pictures.add(dark)
      return { light: hrefBetween(here, sitePath(light)), dark: hasDark ? hrefBetween(here, sitePath(dark)) : null }
    },
    file: (path) => (site.examples.has(path) ? hrefBetween(here, sitePath(path)) : null),
  }
}

/** A page, an example or a folder of examples, or null. Any other folder is its first page. */
function fileOf({ pages, examples, folders }: Site, from: string, href: string): string | null {
  const path = pathFrom(from, href).replace(/\/$/, '')
  const first = `${path}/README.md`
  if (pages.has(first)) return first
  return pages.has(path) || examples.has(path) || folders.has(path) ? path : null
}

const pathFrom = (page: string, href: string): string => posix.join(posix.dirname(page), decoded(href))

/** A malformed one is no file that there is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function exampleOf({ root }: Site, path: string): FramedPage {
  const code = codeMarkup(readFileSync(join(root, path), 'utf8'), extname(path).slice(1))
  const main = markup`<h1>${path}</h1><pre tabindex="0"><code>${code}</code></pre>`
  return { title: path, path: sitePath(path), headings: [], main }
}

function folderOf({ examples }: Site, folder: string): FramedPage {
  const here = sitePath(folder)
  const members = [...examples].filter((path) => path.startsWith(`${folder}/`))
  const item = (path: string): Html => markup`<li><a href="${hrefBetween(here, sitePath(path))}">${path}</a></li>`
  return { title: folder, path: here, headings: [], main: markup`<h1>${folder}</h1><ul>${members.map(item)}</ul>` }
}

const MISSING: FramedPage = {
  title: 'No such page',
  path: null,
  headings: [],
  main: markup`<h1>No such page</h1><p>There is no page at this address. Search for it above, or choose one from the list of all pages.</p>`,
}

/** What is found equally well is shown in the order of the navigation: guides before lists of rules and changes. */
function indexOf({ pages, groups }: Site): readonly IndexedPage[] {
  const order = groups.flatMap((group) => group.pages.map(({ path }) => path))
  const placeOf = (path: string): number =>
    LAST.has(path) || !order.includes(sitePath(path)) ? order.length : order.indexOf(sitePath(path))
  const sorted = [...pages].toSorted(([one], [other]) => placeOf(one) - placeOf(other))
  return sorted.map(([path, { title, sections }]) => ({
    title,
    address: addressOf(sitePath(path)),
    sections: sections.map(({ heading, text }) => ({ heading: heading?.text ?? '', anchor: heading?.anchor ?? '', text })),
  }))
}

/** One file that needs no module loader, so that it also runs in a page without a server. */
async function bundleScript(root: string, file: string): Promise<void> {
  const made = await rolldown({ input: join(root, 'site/browser/main.ts'), platform: 'browser' })
  await made.write({ file, format: 'iife', minify: true })
}
