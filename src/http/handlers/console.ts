/**
 * The console: a page and its files. They say nothing of the deployment, so loading them needs no token. They are no interface for programs,
 * so the OpenAPI document leaves them out.
 */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { unknown, unsupported } from '../../contract/index.ts'
import type { Handler, HttpContext, HttpRoute } from '../context.ts'
import type { HttpReply } from '../reply.ts'

/** Where the build puts it: next to the sources, and next to the compiled files. */
const FOLDER = join(import.meta.dirname, '..', '..', '..', 'console', 'dist')
const PAGE = 'index.html'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The page loads its own files and calls this service alone. It shows text of strangers, which must never run. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const GUARDED = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

async function page(): Promise<HttpReply> {
  const found = (await files()).get(PAGE)
  if (found === undefined) throw unsupported('console_not_built', 'the console is not built here; npm run build makes it')
  return reply(PAGE, found, 'no-cache')
}

/** Every other file has a content hash in its name, so it may be cached for ever. */
async function file(context: HttpContext): Promise<HttpReply> {
  const name = context.params['file'] ?? ''
  const found = name === PAGE ? undefined : (await files()).get(name)
  if (found === undefined) throw unknown('unknown_file', 'the console has no such file; open /console')
  return reply(name, found, 'public, max-age=31536000, immutable')
}

const reply = (name: string, body: Buffer, cache: string): HttpReply => ({
  status: 200,
  headers: { ...GUARDED, 'content-type': TYPES[extname(name)] ?? 'application/octet-stream', 'cache-control': cache },
  body,
})

let known: Promise<ReadonlyMap<string, Buffer>> | null = null

/** Read once: a request names a file that is known, and never a path. */
async function files(): Promise<ReadonlyMap<string, Buffer>> {
  known ??= readFiles()
  const found = await known
  // The build is missing or incomplete: read again the next time.
  if (!found.has(PAGE)) known = null
  return found
}

/** A file that disappears while it is read belongs to a build in progress: that counts as no build. */
async function readFiles(): Promise<ReadonlyMap<string, Buffer>> {
  try {
    const names = await readdir(FOLDER)
    return new Map(await Promise.all(names.map(async (name): Promise<[string, Buffer]> => [name, await readFile(join(FOLDER, name))])))
  } catch {
    return new Map()
  }
}

const open = (path: string, plain: Handler): HttpRoute => ({
  method: 'GET',
  path,
  run: { plain },
  access: 'open',
  right: null,
  scope: 'any',
  bodyBytesMax: 0,
  spec: null,
})

export const consoleRoutes: readonly HttpRoute[] = [open('/console', page), open('/console/', page), open('/console/:file', file)]
