/** The import table: which source folder ("room") may import which. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
/** Packages of this repository import each other by name; the name is the folder. */
const SCOPE = '@svc-ai/'

/** Folders that no user names: of tests, of a script, and control groups. */
const MAKES_OWN_FOLDERS = /^conformance\/|\/testing\.ts$|^plugins\/(?:adapters\/native\/seed\/write|executors\/sandbox\/cgroup)\.ts$/

/** A room may import itself, the listed rooms, Node and packages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/contract': ['client/environment'],
  'src/kit': ['client/folders', 'client/hidden'],
  'src/git': ['src/contract'],
  'src/dialects': ['src/contract', 'src/kit'],
  'src/records': ['src/contract', 'src/kit'],
  'src/recording': ['src/contract', 'src/kit'],
  'src/releases': ['src/contract', 'src/kit'],
  'src/access': ['src/contract', 'src/kit'],
  'src/limits': ['src/contract', 'src/kit'],
  'src/sign-in': ['src/contract', 'src/kit'],
  'src/fleet': ['src/contract', 'src/kit'],
  'src/worker': ['src/contract', 'src/kit'],
  'src/forgetting': ['src/contract', 'src/kit'],
  'src/keys': ['src/contract', 'src/kit', 'client/signing'],
  'src/inference': ['src/contract', 'src/kit', 'src/dialects'],
  'src/harness': ['src/contract', 'src/kit', 'agent'],
  'src/training': ['src/contract', 'src/kit', 'src/records'],
  'src/sessions': ['src/contract', 'src/kit', 'src/dialects'],
  'src/excerpts': ['src/contract', 'src/kit', 'src/dialects'],
  'src/evolution': ['src/contract', 'src/kit', 'src/dialects', 'src/sessions', 'src/harness', 'agent/vendor', 'native'],
  'src/improve': ['src/contract', 'src/kit', 'src/git', 'src/dialects', 'src/harness', 'src/evolution'],
  'src/mining': ['src/contract', 'src/kit', 'src/evolution'],
  'src/weights': ['src/contract', 'src/kit', 'src/dialects'],
  'src/webhooks': ['src/contract', 'src/kit'],
  'src/traces': ['src/contract', 'src/kit', 'src/dialects'],
  'src/scenarios': ['src/contract', 'src/kit', 'src/records', 'src/recording', 'src/releases', 'src/training'],
  'src/reef': ['src/contract', 'src/kit', 'src/git', 'src/harness', 'src/inference', 'src/scenarios'],
  'src/config': ['src/contract', 'src/kit'],
  'src/presentation': ['src/contract'],
  'src/pages': ['src/contract', 'src/kit', 'src/presentation'],
  'src/http': [
    'src/contract',
    'src/kit',
    'src/access',
    'src/dialects',
    'src/records',
    'src/recording',
    'src/releases',
    'src/keys',
    'src/limits',
    'src/fleet',
    'src/inference',
    'src/harness',
    'src/pages',
    'src/scenarios',
    'src/sign-in',
  ],
  'src/cli': [
    'src/contract',
    'src/kit',
    'src/dialects',
    'src/config',
    'src/harness',
    'src/evolution',
    'src/forgetting',
    'src/improve',
    'src/mining',
    'src/presentation',
    'src/main.ts',
    'src/worker',
    'plugins/index.ts',
    'client',
  ],
  'src/compose': [
    'src/contract',
    'src/kit',
    'src/access',
    'src/config',
    'src/fleet',
    'src/forgetting',
    'src/http',
    'src/keys',
    'src/limits',
    'src/recording',
    'src/scenarios',
    'src/sign-in',
    'src/traces',
    'src/training',
    'src/webhooks',
  ],
  'src/listeners': ['src/contract', 'src/kit', 'src/config', 'src/http', 'src/limits', 'src/scenarios'],
  'src/main.ts': [
    'src/contract',
    'src/kit',
    'src/compose',
    'src/listeners',
    'src/config',
    'src/http',
    'src/harness',
    'src/keys',
    'src/reef',
    'src/scenarios',
    'src/training',
    'plugins/index.ts',
  ],
  'src/redactor-thread.ts': ['src/config', 'src/recording', 'plugins/index.ts'],
  'src/trainer-thread.ts': ['src/config', 'src/training', 'plugins/index.ts'],
  'src/trainers-process.ts': ['src/training'],
  'src/listener-thread.ts': ['src/compose', 'src/listeners', 'plugins/index.ts'],
  plugins: ['src/contract', 'src/kit'],
  'plugins/contents': ['src/contract', 'src/kit', 'src/git', 'plugins/contents/common', 'plugins/runtimes/common'],
  'plugins/miners': ['src/contract', 'src/kit', 'src/git', 'src/dialects', 'src/sessions', 'plugins/miners/common'],
  'plugins/stores': ['src/contract', 'src/kit', 'src/excerpts', 'plugins/stores/common'],
  'plugins/adapters': ['src/contract', 'src/kit', 'src/harness'],
  'plugins/recipes': ['src/contract', 'src/kit', 'src/training', 'src/harness', 'src/evolution', 'src/mining', 'src/weights'],
  'plugins/runtimes': ['src/contract', 'src/kit', 'src/dialects', 'src/weights', 'plugins/runtimes/common'],
  'plugins/gateways': ['src/contract', 'src/kit', 'plugins/runtimes/common'],
  'plugins/objectives': ['src/contract', 'src/kit', 'plugins/objectives/common'],
  'plugins/evaluators': ['src/contract', 'src/kit'],
  'plugins/executors': ['src/contract', 'src/kit', 'plugins/executors/common'],
  'plugins/proposers': ['src/contract', 'src/kit', 'src/harness', 'src/evolution'],
  conformance: ['src/contract', 'src/kit', 'src/harness'],
  client: [],
  agent: ['client'],
  native: ['client', 'agent'],
  console: ['src/presentation', 'src/dialects', 'client'],
}

/** A plug-in's own folder is its room: one plug-in never imports another, except the table that names them all. */
function roomOf(file: string): string {
  const [top = '', second = '', third = ''] = file.split('/')
  if (top === 'src') return second.endsWith('.ts') ? file : `src/${second}`
  if (top === 'plugins') return third === '' ? file : `plugins/${second}/${third}`
  return top
}

function allowedFor(room: string): readonly string[] {
  if (room === 'plugins/index.ts') return ['plugins']
  const [top = '', second = ''] = room.split('/')
  if (top === 'plugins') return MAY_IMPORT[`plugins/${second}`] ?? MAY_IMPORT['plugins'] ?? []
  return MAY_IMPORT[room] ?? []
}

/** Files of the contract that the console bundles; its index would bring Node along. */
const IN_BROWSERS = [
  'src/contract/json.ts',
  'src/contract/limits.ts',
  'src/contract/outcomes.ts',
  'src/contract/roles.ts',
  'src/contract/powers.ts',
  'src/contract/task-words.ts',
]

function importsOf(file: string): readonly string[] {
  const source = readFileSync(join(root, file), 'utf8')
  const found = source.matchAll(/(?:from|import|resolve)\s*\(?\s*'(\.[^']+|@svc-ai\/[^']+)'/g)
  return [...found].map(([, path = '']) => (path.startsWith(SCOPE) ? path.slice(SCOPE.length) : join(dirname(file), path)))
}

/** The part of the dialects that the console bundles. */
const READERS = /^src\/dialects\/(?:[^/]+\/read|readers\/index|conversation|typed-parts|values)\.ts$/

/** What may go by weak outcomes. */
const WEAK_OUTCOMES = ['src/evolution/choose-tasks.ts', 'src/evolution/proposing/describe.ts', 'plugins/miners/sessions/']

const isInBrowsers = (file: string): boolean => roomOf(file) === 'src/presentation' || READERS.test(file)

const files = globSync(['src/**/*.ts', 'plugins/**/*.ts', 'conformance/**/*.ts', '{client,agent,native,console}/src/**/*.{ts,tsx}'], {
  cwd: root,
}).filter((file) => !/\.test\.ts$|\/testing\//.test(file))

describe('rooms', () => {
  it('import only what the table allows', () => {
    const strays = files.flatMap((file) => {
      const room = roomOf(file)
      const allowed = allowedFor(room)
      return importsOf(file)
        .filter((target) => roomOf(target) !== room && !allowed.some((other) => target === other || target.startsWith(`${other}/`)))
        .map((target) => `${file} imports ${target}`)
    })
    expect(strays).toEqual([])
  })

  it('are entered through their index alone', () => {
    const strays = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => roomOf(target) !== roomOf(file) && target.startsWith('src/') && !/\/index\.ts$|^src\/main\.ts$/.test(target))
        .filter((target) => !isInBrowsers(file) || !IN_BROWSERS.includes(target))
        .map((target) => `${file} imports ${target}`),
    )
    expect(strays).toEqual([])
  })

  it('of the presentation, and the readers of the dialects, run in a browser: none of their files imports Node', () => {
    const shared = [...files.filter(isInBrowsers), ...IN_BROWSERS]
    expect(shared.filter((file) => /from 'node:/.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  it('ask a dialect what they need to know of it: none but its own compares its name', () => {
    const compares = /\bdialect\b[^\n]{0,20}[!=]== '|\bapi [!=]== '(?:openai|responses|anthropic|gemini)'/
    const strays = files.filter(
      (file) => !/^(?:src\/dialects|native)\//.test(file) && compares.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(strays).toEqual([])
  })

  it('that score, select or publish know no weak outcome: it chooses what proposers see and which sessions are mined, and nothing else', () => {
    const readers = files.filter((file) =>
      importsOf(file).some((target) => roomOf(target) === 'src/sessions' && roomOf(file) !== 'src/sessions'),
    )
    expect(readers.filter((file) => !WEAK_OUTCOMES.some((begin) => file.startsWith(begin)))).toEqual([])
  })

  it('make a folder with its parents in one way: that of Node never ends below /proc', () => {
    const makes = /\bmkdir(?:Sync)?\([^\n]*recursive: true/
    expect(files.filter((file) => !MAKES_OWN_FOLDERS.test(file) && makes.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  it('list what lies below a folder in one way: that of Node follows links in some versions', () => {
    const lists = /\breaddir(?:Sync)?\([^()\n]*recursive: true/
    expect(files.filter((file) => lists.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })

  it('are all in the table', () => {
    const known = new Set(Object.keys(MAY_IMPORT))
    const rooms = new Set(files.map(roomOf).filter((room) => !room.startsWith('plugins/')))
    expect([...rooms].filter((room) => !known.has(room))).toEqual([])
  })

  it('read in one sitting: no file is longer than 400 lines, but for generated ones', () => {
    const written = files.filter((file) => !file.endsWith('.generated.ts'))
    const long = written.filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length > 400)
    expect(long).toEqual([])
  })

  it('say in their index what they are and what they are not', () => {
    const silent = files
      .filter((file) => /^src\/[^/]+\/index\.ts$/.test(file))
      .filter((file) => !/^\/\*\*\n \* .+\n \* Does not /s.test(readFileSync(join(root, file), 'utf8')))
    expect(silent).toEqual([])
  })
})
