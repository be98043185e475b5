/** The environment of child processes of the service and its client: enough to run, and no secrets. */
import { childEnvironment as client } from '@svc-ai/client/environment'
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import codex from '../plugins/adapters/codex/index.ts'
import gitContents from '../plugins/contents/git/index.ts'
import { childEnvironment as service, type Adapter } from '../src/contract/index.ts'
import { openProgram } from '../src/evolution/program.ts'
import { temporaryFolder } from './support/folder.ts'
import { program } from './support/programs.ts'

const ROOT = join(import.meta.dirname, '..')
const SECRETS = { SVC_TOKEN: 'secret', SVC_UPSTREAM_API_KEY: 'secret', OPENAI_API_KEY: 'secret', AWS_SECRET_ACCESS_KEY: 'secret' }

it('is the same list in the service and in the client', () => {
  expect(service).toBe(client)
})

/** Files that start programs with an environment chosen elsewhere, or a smaller one. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'agent/src/page.ts': 'the browser is the person’s, and gets their environment without the token',
  'agent/src/run.ts': 'so is the agent',
  'agent/src/script.ts': 'the install script is ours, and fills in the token',
  'agent/src/programs.ts': 'its callers say which environment',
  'native/src/module.ts': 'tools of a person’s own agent, without anything of the service’s',
  'plugins/adapters/native/seed/bash.ts': 'runs inside such a tool',
  'plugins/executors/local/index.ts': 'an agent gets three variables, and a home of its own',
  'plugins/executors/sandbox/index.ts': 'none at all',
  'plugins/executors/sandbox/bubblewrap.ts': 'none at all',
  'plugins/executors/sandbox/cgroup.ts': 'none at all',
  'plugins/executors/sandbox/exposed.ts': 'a PATH of the system alone',
  'src/cli/browser.ts': 'the browser is the person’s, and gets their environment without the token',
  'src/cli/pager.ts': 'so is the pager',
  'src/training/hosts/process-outside.ts': 'a part of the service: its plug-ins read their settings there, as they do in its threads',
  'plugins/executors/sandbox/scope.ts': 'that, and where the user’s systemd is',
}

it('is chosen in every place that starts a program', () => {
  const files = globSync(['src/**/*.ts', 'plugins/**/*.ts', '{client,agent,native}/src/**/*.ts'], { cwd: ROOT }).filter(
    (file) => !/test/.test(file),
  )
  const careless = files.filter((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    return /^import \{.*\} from 'node:child_process'$/m.test(text) && !text.includes('childEnvironment(')
  })
  expect(careless.toSorted()).toEqual(Object.keys(OTHERWISE).toSorted())
})

it('holds no secret of the service for the scripts of a vendor’s package that episodes need, nor for its program', async () => {
  const { tools, seen } = machine()
  tool(
    tools,
    'npm',
    `env >'${seen('postinstall')}'
while [ $# -gt 1 ]; do [ "$1" = --prefix ] && prefix=$2; shift; done
mkdir -p "$prefix/node_modules/agent" "$prefix/node_modules/.bin"
echo '{"version":"1.2.3"}' >"$prefix/node_modules/agent/package.json"
printf '#!/bin/sh\\nenv >"%s"\\necho 1.2.3\\n' '${seen('program')}' >"$prefix/node_modules/.bin/agent"
chmod +x "$prefix/node_modules/.bin/agent"`,
  )
  const install = { manager: 'npm', package: 'agent', version: '1.2.3', binary_path: 'node_modules/.bin/agent' } as const
  const adapter: Adapter = { ...codex.plugin, name: 'agent', binary: 'agent', install }
  await openProgram({ adapter, binary: null, directory: temporaryFolder() })
  for (const who of ['postinstall', 'program']) expectClean(seen(who))
})

it('leads git to no other repository, and passes it no secret', async () => {
  const { tools, seen } = machine({ GIT_DIR: '/elsewhere', GIT_OBJECT_DIRECTORY: '/elsewhere', GIT_CONFIG_COUNT: '1' })
  tool(tools, 'git', `env >'${seen('git')}'\nexec '${program('git')}' "$@"`)
  await gitContents.plugin.make({ repository: join(temporaryFolder(), 'contents.git') })
  expectClean(seen('git'))
})

/** Tools before those of the system, and a service's environment full of secrets. */
function machine(more: Readonly<Record<string, string>> = {}): { readonly tools: string; readonly seen: (who: string) => string } {
  const [tools, log] = [temporaryFolder(), temporaryFolder()]
  const env = { ...SECRETS, ...more, PATH: `${tools}${delimiter}${process.env['PATH']}` }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  return { tools, seen: (who) => join(log, who) }
}

function tool(folder: string, name: string, body: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`)
  chmodSync(join(folder, name), 0o755)
}

function expectClean(path: string): void {
  const text = readFileSync(path, 'utf8')
  const names = text.split('\n').map((line) => line.slice(0, line.indexOf('=')))
  expect(text).not.toMatch(/secret|elsewhere/)
  expect(names).toContain('PATH')
  expect(
    names.filter((name) =>
      /^(?:SVC_|GIT_(?!TERMINAL_PROMPT$|NO_REPLACE_OBJECTS$|GRAFT_FILE$|ATTR_NOSYSTEM$|OPTIONAL_LOCKS$|ALLOW_PROTOCOL$|NO_LAZY_FETCH$)|VITEST|NODE_OPTIONS)/.test(
        name,
      ),
    ),
  ).toEqual([])
}
