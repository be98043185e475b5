/**
 * `npm run make:tiny-model`: trains the tiny model, or finds the one it trained before, and prints its folder.
 * `--gguf FILE` lays out a real small model of that file in its place, as the trainer reads it. `--out DIR` copies the folder there; every
 * other option goes to the program that trains the tiny model (`--layers`, `--width`, `--steps`, `--device`, …).
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNewEnough } from '../client/bin/launch.mjs'
import { alone } from './alone.mjs'
import { NODE_LEAST, pinnedNode, ROOT, runForCode, runScript, say } from './lib.mjs'

const CACHE = join(ROOT, 'node_modules', '.cache', 'tiny-model')
const TRAINER = join(ROOT, 'trainer', 'svc_trainer')
/** What its weights depend on; the rest of the trainer may change without training it anew. */
const MADE_BY = ['adam.py', 'llama.py', 'safetensors.py', 'tiny.py', 'tiny_text.py']
/** The sources of both conversions: to the file for llama.cpp, and from such a file to a folder. */
const CONVERSION = [join(ROOT, 'scripts', 'tiny-model'), join(ROOT, 'src', 'weights', 'formats')]
const isSource = (name) => name.endsWith('.ts') && !/\.test\.ts$|^testing\.ts$/.test(name)
const GGUF = 'model.gguf'
const GGUF_MADE_BY = 'model.gguf.made-by'

runScript(async () => {
  const args = process.argv.slice(2)
  if (isNewEnough(NODE_LEAST)) return make(args)
  process.exitCode = await runForCode(pinnedNode(), [fileURLToPath(import.meta.url), ...args], { cwd: process.cwd() })
})

async function make(args) {
  const { out, gguf, rest } = optionsOf(args)
  mkdirSync(CACHE, { recursive: true })
  const folder = gguf === null ? await trained(rest) : await laidOut(fromCaller(gguf), rest)
  if (out !== null) cpSync(folder, fromCaller(out), { recursive: true })
  process.stdout.write(`${out === null ? folder : fromCaller(out)}\n`)
}

/** npm runs this in the checkout, wherever it was asked from. */
function fromCaller(path) {
  return resolve(process.env.INIT_CWD ?? process.cwd(), path)
}

function optionsOf(args) {
  const rest = [...args]
  const taken = (option, what) => {
    const at = rest.indexOf(option)
    if (at === -1) return null
    const [, value] = rest.splice(at, 2)
    if (value === undefined) throw new Error(`${option} needs ${what}`)
    return value
  }
  return { out: taken('--out', 'a folder'), gguf: taken('--gguf', 'a file'), rest }
}

async function trained(options) {
  const made = MADE_BY.map((name) => join(TRAINER, name))
  const folder = join(CACHE, digestOf(made, options.join('\0')))
  const exporter = digestOf(conversionFiles())
  if (!isWhole(folder, exporter)) await inTurn(folder, () => makeBoth(folder, exporter, options))
  return folder
}

async function laidOut(file, options) {
  if (options.length > 0) throw new Error('--gguf takes a model as it is: leave out every other option but --out')
  const { sha256OfFile } = await import('../src/weights/formats/files.ts')
  const digest = await sha256OfFile(file)
  if (digest === null) throw new Error('--gguf must name a file that is there')
  const folder = join(CACHE, digestOf(conversionFiles(), digest))
  if (!existsSync(folder)) await inTurn(folder, () => layOut(folder, file, digest, sha256OfFile))
  return folder
}

function inTurn(folder, work) {
  return alone(`${folder}.making`, work, (pid) => say(`waiting for process ${pid}, which makes the same model …`))
}

function conversionFiles() {
  return CONVERSION.flatMap((folder) =>
    readdirSync(folder)
      .filter(isSource)
      .map((name) => join(folder, name)),
  )
}

function digestOf(files, more = '') {
  const digest = createHash('sha256').update(more)
  for (const file of files) digest.update('\0').update(readFileSync(file))
  return digest.digest('hex').slice(0, 24)
}

function isWhole(folder, exporter) {
  const madeBy = join(folder, GGUF_MADE_BY)
  return existsSync(madeBy) && readFileSync(madeBy, 'utf8') === exporter
}

/** Each beside and then renamed: what a killed run leaves is never taken for a model. */
async function makeBoth(folder, exporter, options) {
  if (!existsSync(folder)) await train(folder, options)
  if (isWhole(folder, exporter)) return
  const { exportModelGguf } = await import('./tiny-model/model-gguf.ts')
  await exportModelGguf(folder, join(folder, GGUF))
  writeFileSync(join(folder, GGUF_MADE_BY), exporter)
}

async function train(folder, options) {
  const { findPython } = await import('../src/cli/trainer/python.ts')
  const { trainerEnvironment } = await import('../src/cli/trainer/python.ts')
  const python = await findPython(process.env)
  const beside = `${folder}.partial`
  rmSync(beside, { recursive: true, force: true })
  const command = ['-m', 'svc_trainer', 'make-tiny', '--out', beside, ...options]
  const code = await runForCode(python, command, { env: trainerEnvironment(process.env), stdio: ['ignore', 2, 'inherit'] })
  if (code !== 0) throw new Error('the tiny model was not made')
  renameSync(beside, folder)
}

async function layOut(folder, file, digest, sha256OfFile) {
  if (existsSync(folder)) return
  const { importModelGguf } = await import('./tiny-model/from-gguf.ts')
  const beside = `${folder}.partial`
  rmSync(beside, { recursive: true, force: true })
  try {
    await importModelGguf(file, beside)
    if ((await sha256OfFile(join(beside, GGUF))) !== digest)
      throw new Error('the file changed while it was read; run the same command again')
    renameSync(beside, folder)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}
