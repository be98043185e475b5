/** Whatever key names a path, episodes are kept from it. */
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { ANY_NAME, allKeys } from './keys.ts'
import { loadConfig, readConfig } from './load.ts'
import { ownPaths } from './own-paths.ts'

const PATH = '/srv/of-the-deployment'
const BASE = '/etc/of-the-deployment'

/** An agent sees its program and its tree. Of a task it sees the prompt and the files. */
const SHOWN = ['evolution.binary', 'evolution.seed', 'evolution.tasks']
/** Rules of their own: addresses, words of a list, names of a kind that cannot be a path. */
const REFUSES_PATHS = [
  'svc.host',
  'storage.secret_key',
  'evolution.episode_host',
  'svc.console_origins',
  'svc.compat',
  'svc.log',
  'svc.tls.min_version',
  'inference.engine.adapter_prefix',
  'training.lora_modules',
  'svc.served_url',
  'inference.upstream_url',
  'inference.upstream_api',
  'inference.upstream_formats',
  'svc.sign_in.issuer',
  'svc.sign_in.public_url',
  'svc.sign_in.scopes',
  'svc.sign_in.groups.<name>.role',
  'inference.upstreams.<name>.url',
  'inference.upstreams.<name>.formats',
  'inference.upstreams.<name>.tls.min_version',
  'inference.client_key_origins',
  'inference.allow_inside',
  'inference.gateway.url',
  'inference.gateway.api_key_env',
  'inference.engine.url',
  'inference.engine.gpu',
  'storage.s3.endpoint',
  'recording.mode',
  'recording.scenarios.<name>.mode',
  'traces.endpoint',
  'webhooks.<name>.url',
  'webhooks.<name>.secret',
  'webhooks.<name>.events',
  'data.training_mode',
  'data.batch_policy',
  'evolution.provisional',
  'evolution.publish',
  'evolution.publish_powers',
  'evolution.sampling_seeds',
  'training.trainer_url',
  'training.mlflow_url',
]

const treeOf = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight((inner, name) => ({ [name === ANY_NAME ? 'named' : name]: inner }), value)

const UPSTREAM = { url: 'http://upstream' }

const SIGN_IN = {
  issuer: 'https://login.example.com',
  client_id: 'svc',
  public_url: 'https://svc.example.com',
  groups: { named: { role: 'read' } },
}
const { client_id: _, ...UNNAMED } = SIGN_IN

/** Where the key is of a section that must have others too. */
const BESIDE: Readonly<Record<string, unknown>> = {
  'svc.tls.certificate': { key: 'key.pem' },
  'svc.tls.key': { certificate: 'certificate.pem' },
  'svc.sign_in.client_id': UNNAMED,
  'svc.sign_in.client_secret': SIGN_IN,
  'svc.sign_in.name': SIGN_IN,
  'svc.sign_in.groups_claim': SIGN_IN,
  'svc.sign_in.groups.<name>.scenarios': SIGN_IN,
  'inference.gateway.api_key': { url: 'http://gateway' },
  'inference.upstream_api_key': { upstream_url: 'http://upstream' },
  'inference.upstreams.<name>.api_key': UPSTREAM,
  'inference.upstreams.<name>.models': UPSTREAM,
  'inference.upstreams.<name>.aliases': UPSTREAM,
  'inference.upstreams.<name>.tls.ca_file': UPSTREAM,
  'inference.upstreams.<name>.tls.cert_file': { ...UPSTREAM, tls: { key_file: 'key.pem' } },
  'inference.upstreams.<name>.tls.key_file': { ...UPSTREAM, tls: { cert_file: 'cert.pem' } },
}

function pathsWith(key: string, value: unknown): readonly string[] | null {
  const path = key.split('.')
  const isSignIn = key.startsWith('svc.sign_in.')
  const section = key.startsWith('inference.upstreams.') ? path.slice(0, 3) : isSignIn ? path.slice(0, 2) : path.slice(0, -1)
  const beside = BESIDE[key] === undefined ? {} : treeOf(section, BESIDE[key])
  const closed = isSignIn ? { svc: { token: 'a-token' } } : {}
  const text = JSON.stringify(merged(merged(treeOf(path, value), beside), closed))
  try {
    return ownPaths(readConfig({ text, environment: {}, baseDirectory: BASE }).config, { file: null, base: BASE })
  } catch {
    return null
  }
}

function merged(one: unknown, other: unknown): unknown {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return other ?? one
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...names].map((name) => [name, merged(Reflect.get(one, name), Reflect.get(other, name))]))
}

const KEYS = allKeys()
  .filter(({ kind }) => kind !== 'number' && kind !== 'flag')
  .map(({ key, kind }) => ({
    key,
    value: key.endsWith('.seed')
      ? [{ id: 'rules', name: 'rules', config: { text: PATH } }]
      : kind === 'list'
        ? [PATH]
        : key.endsWith('.aliases')
          ? { alias: PATH }
          : PATH,
  }))
const bare = (key: string): string => key.replace('recipes.<name>.', '')

describe('a path is hidden from episodes, whatever its key', () => {
  it.each(KEYS.filter(({ key }) => ![...SHOWN, ...REFUSES_PATHS].includes(bare(key))))('$key', ({ key, value }) => {
    expect(pathsWith(key, value)).toContain(PATH)
  })

  it.each(KEYS.filter(({ key }) => REFUSES_PATHS.includes(bare(key))))('$key takes none', ({ key, value }) => {
    expect(pathsWith(key, value)).toBeNull()
  })

  it.each(KEYS.filter(({ key }) => SHOWN.includes(bare(key))))('$key is for the agent', ({ key, value }) => {
    expect(pathsWith(key, value)).not.toContain(PATH)
  })
})

it.each<readonly [string, unknown, string]>([
  ['evolution.tasks_dir', 'tasks', `${BASE}/tasks`],
  ['evolution.tasks_dir', '../beside', '/etc/beside'],
  ['evolution.evaluator', './score.mjs#strict', `${BASE}/score.mjs`],
  ['recipe', '../recipe.mjs', '/etc/recipe.mjs'],
  ['storage.artifact_repository', 'file:///srv/with%20blank.git', '/srv/with blank.git'],
  ['training.examiner_config', { deep: [{ answers: './answers' }] }, `${BASE}/answers`],
  ['evolution.tasks', [{ name: 't', prompt: 'p', data: { answers: '/srv/answers.json' } }], '/srv/answers.json'],
])('%s: %j', (key, value, path) => {
  expect(pathsWith(key, value)).toContain(path)
})

it('the file, its folder and closed files beside it are hidden, also behind a link', async () => {
  const folder = realpathSync(temporaryFolder())
  for (const name of ['real', 'linked']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'real/svc.yaml'), 'svc: {port: 0}')
  for (const name of ['real', 'linked']) writeFileSync(join(folder, name, '.env'), 'KEY=x')
  symlinkSync('../real/svc.yaml', join(folder, 'linked/svc.yaml'))
  const { ownPaths: own } = await loadConfig({ file: join(folder, 'linked/svc.yaml'), environment: {}, probe: async () => null })
  const wanted = ['linked', 'linked/svc.yaml', 'linked/.env', 'real', 'real/svc.yaml', 'real/.env']
  expect(own).toEqual(expect.arrayContaining(wanted.map((name) => join(folder, name))))
})
