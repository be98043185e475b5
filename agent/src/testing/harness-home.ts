/** A person's machine for tests: a home of its own, an npm that makes small programs, and a terminal that remembers what it showed. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { listenOnLoopback } from '../../../test/support/listen.ts'
import type { InstallOrder } from '../install.ts'
import { digestOf, type ReleaseStatement } from '@svc-ai/client/signing'
import { deployment, type TestDeployment } from '../../../client/src/testing/signed.ts'
import { deliveryOf, type Installation, type SignedInstallation } from '../installation.ts'
import type { Terminal } from '../terminal.ts'

/** Makes `node_modules/<package>` and its program; fails or waits when a file in the home says so. */
const NPM = `#!/bin/sh
set -eu
while [ $# -gt 1 ]; do [ "$1" = --prefix ] && prefix=$2; shift; done
case $1 in *@*) wanted=$1 ;; *) wanted=$(sed 's/.*"dependencies":{"\\([^"]*\\)":"\\([^"]*\\)".*/\\1@\\2/' "$prefix/package.json") ;; esac
package=\${wanted%@*} version=\${wanted##*@}
echo "$package@$version" >>"$HOME/npm.log"
if [ -e "$HOME/npm-fails" ]; then echo 'npm error network unreachable'; exit 1; fi
mkdir -p "$prefix/node_modules/$package" "$prefix/node_modules/.bin"
printf '{"name":"%s","version":"%s"}' "$package" "$version" >"$prefix/node_modules/$package/package.json"
printf '#!/bin/sh\\necho "the agent v%s"\\n' "$version" >"$prefix/node_modules/.bin/agent"
chmod +x "$prefix/node_modules/.bin/agent"
`

/** What every service of a test answers of its token, which is one that a person gave to that machine; false for another route. */
export function answersCaller({ url }: IncomingMessage, response: ServerResponse): boolean {
  if (url !== '/svc/caller') return false
  const caller = { kind: 'token', name: 'given', role: 'agent', scenarios: ['demo'], expires_at: null }
  response.writeHead(200, { connection: 'close' }).end(JSON.stringify(caller))
  return true
}

const service = createServer((request, response) => void (answersCaller(request, response) || response.writeHead(404).end()))
/** The address of a service that knows the token of a home, and nothing else. */
export const SERVICE_URL = `http://127.0.0.1:${await listenOnLoopback(service)}`
service.unref()

export interface Home {
  readonly path: string
  readonly destination: string
  readonly prefix: string
  readonly env: NodeJS.ProcessEnv
  /** The program texts and arguments of an install on this machine. */
  order(installation: Installation, args?: readonly string[]): Omit<InstallOrder, 'terminal'>
  /** What npm was asked to install, in order. */
  npmCalls(): readonly string[]
}

export function makeHome(): Home {
  const path = realpathSync(temporaryFolder())
  const tools = join(path, 'tools')
  mkdirSync(tools)
  writeFileSync(join(tools, 'npm'), NPM)
  chmodSync(join(tools, 'npm'), 0o755)
  symlinkSync(process.execPath, join(tools, 'node'))
  const [destination, prefix] = [join(path, 'svc-harness'), join(path, 'prefix')]
  const env = { HOME: path, PATH: `${tools}:${join(path, '.local/bin')}:/usr/bin:/bin`, SVC_TOKEN: 'secret-token' }
  return {
    path,
    destination,
    prefix,
    env,
    order: (installation, args = [destination, prefix]) => ({
      installation: signedInstallation(installation, PROGRAM),
      program: PROGRAM,
      args,
      env,
      node: { path: join(tools, 'node'), version: '20.1.0' },
    }),
    npmCalls: () => (existsSync(join(path, 'npm.log')) ? readFileSync(join(path, 'npm.log'), 'utf8').trimEnd().split('\n') : []),
  }
}

const PROGRAM = '// the wrapper\n'

/** The deployment of every test of an install. */
export const DEPLOYMENT = deployment()

let steps = 0

/** Each is a newer step than the one before, whichever release it is of. */
export function signedInstallation(
  installation: Installation,
  program: string,
  { by = DEPLOYMENT, ...about }: Partial<ReleaseStatement> & { readonly by?: TestDeployment } = {},
): SignedInstallation {
  const { scenario, adapter, release_id, content_id, install } = installation
  steps += 1
  const told = { scenario, adapter, release_id, content_id, step: steps, vendor: digestOf(install) }
  return { ...installation, signed: by.release({ ...told, delivery: deliveryOf(installation, program), ...about }, installation) }
}

export function anInstallation(changes: Partial<Installation> = {}): Installation {
  const files = { 'AGENTS.md': 'be brief\n', 'models.json': '{}\n', 'skills/one/SKILL.md': 'one\n' }
  return {
    adapter: 'agent',
    binary: 'agent',
    url: SERVICE_URL,
    scenario: 'demo',
    release_id: 'r1',
    content_id: 'c1',
    files,
    binding: { 'models.json': '{"url":"@URL@/v1","key":"@TOKEN@"}\n', '.env': 'KEY="@TOKEN@"\n' },
    harness_paths: ['AGENTS.md', 'models.json', 'skills/'],
    placeholders: { url: '@URL@', token: '@TOKEN@' },
    requires: [],
    fallback_release_id: null,
    install: { manager: 'npm', package: '@vendor/agent', version: '1.2.3', binary_path: 'node_modules/.bin/agent' },
    client: { env: { AGENT_DIR: '{root}' }, env_defaults: {}, state: [], tools: [] },
    ...changes,
  }
}

export interface Transcript extends Terminal {
  readonly printed: string[]
  readonly warned: string[]
  readonly asked: { readonly question: string; readonly hidden: boolean }[]
}

/** Answers are given in turn; without any there is no one to ask. */
export function transcript(...answers: string[]): Transcript {
  const [printed, warned, asked]: [string[], string[], Transcript['asked']] = [[], [], []]
  const interactive = answers.length > 0
  const next = (question: string, hidden: boolean): Promise<string> => {
    asked.push({ question, hidden })
    const answer = answers.shift()
    return answer === undefined ? Promise.reject(new Error(`no answer to ${question}`)) : Promise.resolve(answer)
  }
  return {
    printed,
    warned,
    asked,
    interactive,
    print: (line) => void printed.push(line),
    printJson: (value) => void printed.push(JSON.stringify(value)),
    warn: (line) => void warned.push(line),
    confirm: async (question) => (await next(question, false)) === 'yes',
    ask: (question, { hidden = false } = {}) => next(question, hidden),
    during: (label, work) => {
      warned.push(label)
      return work()
    },
  }
}

/** Every plain file below a folder, path to text. */
export function textsBelow(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {}
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path), { throwIfNoEntry: false })?.isFile(),
  )
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}
