/** `npm run check:packages`: what would be published is what should be, and installing it runs no script. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepareToPublish, ROOT, runScript, say } from './lib.mjs'

const PACKAGES = [
  {
    folder: '.',
    needs: [
      'bin/svc.mjs',
      'dist/src/cli/index.js',
      'dist/src/contract/index.d.ts',
      'dist/console/dist/index.html',
      'dist/plugins/runtimes/llama/package-lock.json',
      'dist/plugins/stores/postgres/package-lock.json',
      'dist/plugins/stores/postgres/schema/0001.sql',
      'dist/src/sign-in/package-lock.json',
      'dist/trainer/svc_trainer/__main__.py',
    ],
  },
  { folder: 'client', needs: ['bin/launch.mjs', 'bin/svc-client.mjs', 'dist/index.js'] },
  { folder: 'agent', needs: ['dist/wrapper.mjs', 'dist/installation.d.ts'] },
  { folder: 'native', needs: ['bin/svc-native.mjs', 'dist/native.mjs'] },
]
const EXPECTED = /^(package\.json|README\.md|LICENSE|bin\/.+\.mjs|dist\/.+)$/
const NEVER = /\.test\./
/** What the service runs on comes inside its package. */
const BUNDLED = /^node_modules\//

runScript(async () => {
  await prepareToPublish()
  const problems = [...lockProblems(), ...bundleProblems(), ...PACKAGES.slice(1).flatMap(({ folder }) => dependencyProblems(folder))]
  for (const { folder, needs } of PACKAGES) problems.push(...packProblems(folder, needs), ...(await lintProblems(folder)))
  for (const problem of problems) say(problem)
  if (problems.length > 0) throw new Error(`${problems.length} problems in the packages`)
})

function packProblems(folder, needs) {
  const packed = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'], {
    cwd: join(ROOT, folder),
    encoding: 'utf8',
    shell: process.platform === 'win32',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (packed.status !== 0) return [`${folder}: npm pack failed: ${packed.stderr.trim()}`]
  const answer = JSON.parse(packed.stdout)
  // npm 11 answers a list, later ones an object by package name.
  const [described] = Object.values(answer)
  const files = described.files.map(({ path }) => path).filter((path) => folder !== '.' || !BUNDLED.test(path))
  return [
    ...files.filter((path) => !EXPECTED.test(path) || NEVER.test(path)).map((path) => `${folder}: ${path} should not be in the package`),
    ...needs.filter((path) => !files.includes(path)).map((path) => `${folder}: ${path} is missing from the package`),
  ]
}

async function lintProblems(folder) {
  const { publint } = await import('publint')
  const { formatMessage } = await import('publint/utils')
  const { messages, pkg } = await publint({ pkgDir: join(ROOT, folder), strict: true, pack: 'npm' })
  return messages.map((message) => `${folder}: publint: ${formatMessage(message, pkg, { color: false })}`)
}

function lockProblems() {
  const text = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  const packages = Object.entries(JSON.parse(text).packages)
  const scripted = packages.filter(([, entry]) => entry.hasInstallScript && !entry.dev && !entry.devOptional)
  const hosted = packages.filter(([, entry]) => /^\w+:\/\//.test(entry.resolved ?? ''))
  return [
    ...scripted.map(([path]) => `package-lock.json: ${path} runs a script when it is installed`),
    ...hosted.map(([path]) => `package-lock.json: ${path} names the host it came from; install with omit-lockfile-registry-resolved`),
  ]
}

/** A dependency outside the bundle would be fetched on installing. */
function bundleProblems() {
  const { dependencies, bundleDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const missing = Object.keys(dependencies).filter((name) => !bundleDependencies.includes(name))
  return missing.map((name) => `package.json: ${name} is missing from bundleDependencies`)
}

/** These packages run on a person's machine: they depend on nothing but each other. */
function dependencyProblems(folder) {
  const described = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
  const fields = ['dependencies', 'optionalDependencies', 'peerDependencies']
  const names = fields.flatMap((field) => Object.keys(described[field] ?? {})).filter((name) => !name.startsWith('@svc-ai/'))
  return names.map((name) => `${folder}: depends on ${name}; it may depend on our own packages alone`)
}
