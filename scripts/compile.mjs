/** Makes JavaScript of the sources, without checking types: `compile.mjs FOLDER`. Runs on the pinned Node, with what npm installed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { transform } from 'rolldown/utils'
import { build } from 'vite'
import { bundleService } from './bundle-service.mjs'
import { filesUnder, PACKAGES } from './inputs.mjs'
import { at } from './run.mjs'

/** One folder of sources each, and where its modules go. */
const MODULES = PACKAGES.map((name) => ({ from: `${name}/src`, to: `${name}/dist` }))
/** Programs in one file: what install scripts carry, and the native agent, which episodes are given to read. */
const BUNDLES = [
  { from: 'agent/src/main.ts', to: 'agent/dist/wrapper.mjs' },
  { from: 'native/src/main.ts', to: 'native/dist/native.mjs' },
]
const CONSOLE = 'dist/console/dist'
const SITE = 'dist/site'
const TESTING = /\.(test|fixture)\.ts$|[\\/]testing([\\/]|\.ts$)/

const out = process.argv[2]
if (out === undefined) throw new Error('usage: compile.mjs FOLDER')
await Promise.all([...MODULES.map(compileFolder), ...BUNDLES.map(bundle), bundleService(out), bundleConsole(), makeSite()])

async function compileFolder({ from, to }) {
  const sources = filesUnder(from).filter((file) => file.endsWith('.ts') && !TESTING.test(file))
  await Promise.all(sources.map((file) => compileFile(file, join(to, relative(from, file).replace(/\.ts$/, '.js')))))
}

async function compileFile(file, target) {
  const text = readFileSync(at(file), 'utf8')
  const { code, map, errors } = await transform(file, text, {
    target: 'es2024',
    sourcemap: true,
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
  })
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join('; ')}`)
  // A helper of the compiler is in no package of ours: `using`, for one, is not in every Node that we run on.
  if (code.includes('@oxc-project/runtime')) throw new Error(`${file}: has syntax that needs a helper; write it without`)
  const sources = [relative(dirname(target), file)]
  mkdirSync(dirname(join(out, target)), { recursive: true })
  writeFileSync(join(out, `${target}.map`), JSON.stringify({ ...map, sources, sourcesContent: undefined }))
  writeFileSync(join(out, target), `${code}//# sourceMappingURL=${basename(target)}.map\n`)
}

/** Readable, since people run it from a pipe, and in a syntax that the oldest Node it meets can read. */
async function bundle({ from, to }) {
  const made = await rolldown({ input: at(from), platform: 'node', transform: { target: 'node20' } })
  await made.write({ file: join(out, to), format: 'esm' })
}

function bundleConsole() {
  return build({ configFile: at('console/vite.config.ts'), build: { outDir: join(out, CONSOLE), emptyOutDir: true } })
}

/** The generator runs from its sources, and from those of the client, whose build is made at the same time. */
async function makeSite() {
  registerHooks({ resolve: (specifier, context, next) => next(specifier.replace(/^@svc-ai\/client\/(\w+)$/, clientSource), context) })
  const { buildSite } = await import('../site/build.ts')
  await buildSite(at(), join(out, SITE))
}

function clientSource(_, name) {
  return pathToFileURL(at(`client/src/${name}.ts`)).href
}
