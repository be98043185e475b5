/** An installed harness whose agent is a few lines of a test's own, in a home that goes with the test. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { programOf } from '../../../test/support/built.ts'
import { COMPILED } from '../../../test/support/compiled.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Installation } from '../installation.ts'
import { installFolder } from '../places.ts'
import { recordFile, recordOf } from '../record.ts'
import { writeWhole } from '../whole-file.ts'
import type { Install } from '../service.ts'

const MAIN = programOf(join(import.meta.dirname, '../main.ts'), join(import.meta.dirname, '../../dist/wrapper.mjs'))
export const SCENARIO = 'Prüfung'

export interface TestInstall extends Install {
  readonly home: string
  readonly destination: string
}

/** The address of no service. */
export const NOWHERE = 'http://127.0.0.1:1'

/** `agent` is the body of a Node program. */
export async function installed(url = NOWHERE, agent = '', changes: Partial<Installation> = {}): Promise<TestInstall> {
  const home = realpathSync(temporaryFolder())
  const [destination, prefix] = [join(home, 'harness'), join(home, 'prefix')]
  const installation = { ...installationAt(url), ...changes }
  const record = recordOf(installation, destination, prefix)
  for (const [path, content] of Object.entries({ ...installation.files, ...installation.binding })) write(join(destination, path), content)
  write(record.executable, `#!/usr/bin/env node\n${agent}\n`)
  chmodSync(record.executable, 0o755)
  const folder = installFolder(home, destination)
  mkdirSync(folder, { recursive: true })
  await writeWhole(recordFile(folder, record))
  writeFileSync(join(folder, 'token'), 'secret-token\n', { mode: 0o600 })
  writeFileSync(join(folder, 'env'), 'FROM_FILE=kept\nSVC_TOKEN=secret-token\nBOTH=file\n', { mode: 0o600 })
  const env = { PATH: process.env['PATH'], HOME: home, BOTH: 'shell', no_proxy: 'internal.example', SVC_TOKEN: 'secret-token', ...COMPILED }
  return { home, destination, folder, record, env }
}

const installationAt = (url: string): Installation => ({
  adapter: 'pi',
  binary: 'pi',
  url,
  scenario: SCENARIO,
  release_id: 'release-1',
  content_id: 'content-1',
  files: { 'pi-agent/AGENTS.md': 'Be brief.\n', 'pi-agent/skills/a/SKILL.md': 'A skill.\n', 'pi-agent/settings.json': '{}\n' },
  binding: { 'pi-agent/models.json': '{"url":"URL-HERE/v1","key":"TOKEN-HERE"}\n', 'pi-agent/settings.json': '{"model":"m"}\n' },
  harness_paths: ['pi-agent/settings.json', 'pi-agent/models.json', 'pi-agent/AGENTS.md', 'pi-agent/skills/', 'pi-agent/extensions/'],
  placeholders: { url: 'URL-HERE', token: 'TOKEN-HERE' },
  requires: [],
  fallback_release_id: null,
  install: { manager: 'npm', package: 'pi', version: '1.2.3', binary_path: 'bin/pi' },
  client: {
    env: { PI_DIR: '{root}/pi-agent' },
    env_defaults: { PI_QUIET: '1', BOTH: 'default' },
    state: ['pi-agent/sessions/', 'pi-agent/auth.json'],
    tools: [],
  },
})

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** `svc-pi …` as a person would run it. Its outputs are no terminal. */
export function start({ folder, env }: Install, ...args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, folder, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const end = Promise.all([exit, text(child.stdout), text(child.stderr)]).then(([code, stdout, stderr]) => ({ code, stdout, stderr }))
  return { child, end }
}
