/**
 * The service in few files: one for each place it is entered at, and one for what several of them share. A start then reads dozens of files
 * instead of hundreds. A plug-in that imports a room of ours by name meets the same module as the service does.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { filesUnder } from './inputs.mjs'
import { at } from './run.mjs'

/** Modules that run as threads or as processes, which are started by the name of their file. */
const THREAD = /[-/](?:thread|process)\.ts$/
/** Threads that load no plug-in. A thread shares no module with another, so each of these is one file that holds only what it uses. */
const LONE_THREAD = /^plugins\/stores\/sqlite\/(writer|reader|errand|indexer|searcher)\.ts$/
const COMMAND = 'src/cli/index.ts'
const SERVICE = 'src/main.ts'
const BUILT = 'dist/'
/** What reads files beside its source: in the build it still looks where that source would be. */
const BESIDE_URL = ', import.meta.url)'
const BESIDE_FOLDER = 'import.meta.dirname'
/** What runtimes use of undici. The whole of it, with its own fetch, caches and mocks, is for those who name more. */
const CONNECTIONS = `
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import api from 'undici/lib/api/index.js'
import Client from 'undici/lib/dispatcher/client.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
Object.assign(Dispatcher.prototype, api)
export { Client, EnvHttpProxyAgent, Pool }
`
const CONNECTIONS_ID = at('node_modules/undici/connections.js')
/** An import of these as modules reads each of their names, and some load much on being read: a second fetch, the Web Crypto API. */
const BUILTIN = /^node:(?:crypto|dns|fs|http|tls|util)$/
const BUILTIN_PREFIX = '\0builtin:'
/** Escapes in raw text would be read as they stand, so that is left alone. */
const BEYOND_LATIN = /String\.raw`[^`]*`|[^\0-\xFF]/g
const HOME = /__home_(url|folder)__\("([^"]+)"\)/g

export async function bundleService(folder) {
  await Promise.all([bundle(entries(), folder), ...filesWhere(LONE_THREAD).map((file) => bundle([file], folder))])
}

async function bundle(files, folder) {
  const made = await rolldown({
    input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ''), at(file)])),
    platform: 'node',
    transform: { target: 'es2024' },
    treeshake: { moduleSideEffects: hasOwnEffects },
    plugins: [besideSource, connectionsOnly, http2OnFirstUse, builtinsAsTheyAre, oneByteEach],
  })
  const { output } = await made.write({
    dir: join(folder, BUILT),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    sourcemapPathTransform: (source, map) => fromBuilt(resolve(dirname(map), source), relative(folder, map)),
    // Errors are told apart and logged by their name.
    keepNames: true,
    // V8 keeps the text of what runs.
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  for (const { fileName, code = '' } of output)
    if (code.includes('@oxc-project/runtime')) throw new Error(`${fileName}: has syntax that needs a helper; write it without`)
}

/** A source seen from its map, where that will be once the build is in place. */
const fromBuilt = (source, map) => relative(dirname(at(map)), source).replaceAll('\\', '/')

/**
 * Node's modules and ours do nothing but define, apart from entries. So an entry takes along what it uses of a room, and not the whole room: the thread of
 * a trainer takes half the CPU to start.
 */
const hasOwnEffects = (id) => !id.startsWith('node:') && !id.startsWith(at('src/')) && !id.startsWith(at('plugins/'))

/** The command, the service, its threads, and what the package exports. */
function entries() {
  return [COMMAND, SERVICE, ...filesWhere(THREAD), ...exported()]
}

const filesWhere = (pattern) => ['src', 'plugins'].flatMap(filesUnder).filter((file) => pattern.test(file))

function exported() {
  const { exports } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  return Object.values(exports).map((entry) => relative(BUILT, entry.default).replace(/\.js$/, '.ts'))
}

const besideSource = {
  name: 'beside-source',
  transform(code, id) {
    const home = relative(at(), id)
    if (home.startsWith('..') || home.includes('node_modules')) return null
    const place = JSON.stringify(home.replaceAll('\\', '/'))
    const placed = code.replaceAll(BESIDE_URL, `, __home_url__(${place}))`).replaceAll(BESIDE_FOLDER, `__home_folder__(${place})`)
    return placed === code ? null : { code: placed, map: null }
  },
  renderChunk(code, { fileName }) {
    const from = dirname(fileName)
    const placed = code.replaceAll(HOME, (_, kind, home) =>
      kind === 'url'
        ? `new URL(${JSON.stringify(relative(from, home))}, import.meta.url)`
        : `(import.meta.dirname + ${JSON.stringify(`/${relative(from, dirname(home))}`)})`,
    )
    return placed === code ? null : { code: placed, map: null }
  },
}

/** As undici's own index puts it together. */
const connectionsOnly = {
  name: 'connections-only',
  resolveId(name, importer) {
    const isRuntime = importer !== undefined && relative(at('plugins'), importer).startsWith('runtimes')
    return name === 'undici' && isRuntime ? CONNECTIONS_ID : null
  },
  load: (id) => (id === CONNECTIONS_ID ? CONNECTIONS : null),
}

/** Node's HTTP/2 is large, and few upstreams speak it. */
const http2OnFirstUse = {
  name: 'http2-on-first-use',
  transform(code, id) {
    if (!id.endsWith('undici/lib/dispatcher/client.js')) return null
    const placed = code.replace("= require('./client-h2.js')", "= (...given) => require('./client-h2.js')(...given)")
    if (placed === code) throw new Error('undici loads HTTP/2 in another way than it did; see http2OnFirstUse')
    return { code: placed, map: null }
  },
}

/** One character beyond Latin-1 makes V8 keep the whole file with two bytes a character. An escape is the same character. */
const oneByteEach = {
  name: 'one-byte-each',
  generateBundle(_, output) {
    for (const chunk of Object.values(output)) if (chunk.type === 'chunk') chunk.code = chunk.code.replaceAll(BEYOND_LATIN, escaped)
  },
}

const escaped = (found) => (found.length === 1 ? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}` : found)

/** The same functions; of each module only the names that are used are read. */
const builtinsAsTheyAre = {
  name: 'builtins-as-they-are',
  resolveId: (name, importer, { kind }) => (BUILTIN.test(name) && kind === 'import-statement' ? `${BUILTIN_PREFIX}${name}` : null),
  load(id) {
    if (!id.startsWith(BUILTIN_PREFIX)) return null
    const name = id.slice(BUILTIN_PREFIX.length)
    const builtin = `process.getBuiltinModule('${name}')`
    const names = Object.keys(process.getBuiltinModule(name)).filter((member) => member !== 'default')
    const read = names.map((member) => `export const ${member} = /* @__PURE__ */ (() => ${builtin}.${member})()`)
    return [`export default /* @__PURE__ */ ${builtin}`, ...read].join('\n')
  },
}
