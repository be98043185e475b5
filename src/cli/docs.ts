/** `svc docs`: serves the documents that came with this version to the browser of this machine, without a network. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { conflict, unknown, unsupported } from '../contract/index.ts'
import { entriesBelow, hasCode } from '../kit/index.ts'
import { printError } from './explain.ts'
import { jsonText, oneLine } from './screen/text.ts'
import { stoppable } from './stopping.ts'
import { EXIT, type Surroundings } from './surroundings.ts'

export interface DocsOptions {
  readonly page?: string
  readonly port?: number
  /** False with `--no-open`. */
  readonly open?: boolean
  readonly json?: boolean
}

const HOST = '127.0.0.1'
const USUAL_PORT = 8980
const ANY_PORT = 0
const FIRST_PAGE = 'index.html'
const MISSING_PAGE = '404.html'
/** Beside the compiled code; seen from the sources it is in what they were compiled to. */
const FOLDERS = ['../../site', '../../dist/site'].map((folder) => join(import.meta.dirname, folder))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
}

const GUARDED = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
}

export async function docs(options: DocsOptions, surroundings: Surroundings): Promise<number> {
  const stopping = stoppable(surroundings)
  try {
    const site = await openSite()
    const page = options.page === undefined ? '' : pageOf(site, options.page)
    const server = createServer((request, response) => void answer(site, request, response))
    const port = await listen(server, options.port)
    const url = `http://${HOST}:${port}/${page}`
    await show(url, site.folder, options, surroundings)
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
    server.closeAllConnections()
    server.close()
    return EXIT.fine
  } catch (error) {
    printError(error, null, surroundings)
    return EXIT.failed
  }
}

interface Site {
  readonly folder: string
  /** With slashes, also where paths are written otherwise. A request names one of these and never a path. */
  readonly files: ReadonlySet<string>
}

async function openSite(): Promise<Site> {
  const folder = FOLDERS.find((each) => existsSync(join(each, MISSING_PAGE)))
  if (folder === undefined) throw unsupported('docs_not_built', 'the documents are not built here; npm run build makes them')
  const entries = await entriesBelow(folder)
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
  return { folder, files: new Set(files.map((file) => file.split(sep).join('/'))) }
}

/** As a person names it: `extend/recipe`, `docs/extend/recipe.md`, `configuration.html`. */
function pageOf(site: Site, named: string): string {
  const name = named.replace(/^\/?(?:docs\/)?/, '').replace(/(?:\.md|\.html|\/)$/, '')
  const found = fileOf(site, name)
  if (found === null) throw unknown('unknown_page', `there is no page ${oneLine(named)}; svc docs shows them all`)
  return addressOf(found)
}

/** A folder is its first page, and a page needs no ending. */
const fileOf = ({ files }: Site, name: string): string | null =>
  [name, `${name}.html`, name === '' ? FIRST_PAGE : `${name}/${FIRST_PAGE}`].find((file) => files.has(file)) ?? null

const addressOf = (file: string): string => file.split('/').map(encodeURIComponent).join('/')

/** The usual port, or any other where that is taken. A port that was asked for is taken or refused. */
async function listen(server: Server, wanted: number | undefined): Promise<number> {
  try {
    return await listenAt(server, wanted ?? USUAL_PORT)
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE', 'EACCES')) throw error
    if (wanted === undefined) return listenAt(server, ANY_PORT)
    throw conflict('port_in_use', `port ${wanted} cannot be used; choose another with --port, or leave it out`)
  }
}

async function listenAt(server: Server, port: number): Promise<number> {
  server.listen(port, HOST)
  await once(server, 'listening')
  const address = server.address()
  return address === null || typeof address === 'string' ? port : address.port
}

async function show(url: string, folder: string, { json, open = true }: DocsOptions, surroundings: Surroundings): Promise<void> {
  if (json === true) return surroundings.out(jsonText({ url, folder }, 2))
  surroundings.out(url)
  if (open && !(await surroundings.browse(url)) && surroundings.isTerminal)
    surroundings.err('no browser was found here; open the address in one of this machine')
  if (surroundings.isTerminal) surroundings.out('Ctrl-C ends it.')
}

async function answer(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD', ...GUARDED }).end()
    return
  }
  const name = nameIn(request.url ?? '/')
  const found = fileOf(site, name)
  // The links of a page begin at its own folder.
  if (found !== null && found !== name && name !== '') {
    response.writeHead(302, { location: `/${addressOf(found)}`, ...GUARDED }).end()
    return
  }
  const { status, file, body } = await contentOf(site, found)
  response.writeHead(status, {
    ...GUARDED,
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-length': body.length,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** A malformed address names no file. */
function nameIn(url: string): string {
  try {
    return decodeURIComponent(url.replace(/[?#].*$/s, '').slice(1)).replace(/\/$/, '')
  } catch {
    return MISSING_PAGE
  }
}

/** A build may replace the files at any time: one that is gone is missing. */
async function contentOf({ folder }: Site, found: string | null): Promise<{ status: number; file: string; body: Buffer }> {
  const file = found ?? MISSING_PAGE
  try {
    return { status: file === MISSING_PAGE ? 404 : 200, file, body: await readFile(join(folder, file)) }
  } catch {
    return { status: 404, file: 'missing.html', body: Buffer.from('The documents are being built again; reload the page in a moment.\n') }
  }
}
