/** The files to run it with: what can be known of them without a container. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { loadConfig } from '../../src/config/index.ts'
import { isObject, type JsonObject } from '../../src/contract/index.ts'
import { temporaryFolder } from '../support/folder.ts'
import { program } from '../support/programs.ts'

const ROOT = join(import.meta.dirname, '../..')
const textOf = (path: string): string => readFileSync(join(ROOT, 'deploy', path), 'utf8')

function objectIn(value: unknown): JsonObject {
  if (!isObject(value)) throw new Error('this is no object')
  return value
}

const ENVIRONMENT = {
  SVC_TOKEN: 'a-token-that-is-long-enough-for-an-open-address',
  DB_PASSWORD: 'word',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
}

/** As the service reads it. */
async function configured(text: string) {
  const file = join(temporaryFolder(), 'svc.yaml')
  writeFileSync(file, text)
  return (await loadConfig({ file, environment: ENVIRONMENT, probe: () => Promise.resolve(null) })).config
}

describe('the image', () => {
  const lines = textOf('Dockerfile').split('\n')
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))

  it('runs as nobody special, says whether it is well, and ends what it started', () => {
    expect(last.find((line) => line.startsWith('USER '))).toBe('USER 10001:10001')
    expect(last.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true)
    expect(last.find((line) => line.startsWith('ENTRYPOINT '))).toBe('ENTRYPOINT ["tini", "--", "svc"]')
  })

  it('names the version of what it is made from, a Node that the service takes, and brings no secret and nothing that is built here', () => {
    const bases = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1] ?? '')
    const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'tools/node/package.json'), 'utf8'))
    expect(new Set(bases)).toEqual(new Set([`node:${version.split('.')[0]}-bookworm-slim`]))
    expect(lines.filter((line) => /^(?:ARG|ENV) .*(?:TOKEN|KEY|PASSWORD)/.test(line))).toEqual([])
    expect(textOf('Dockerfile.dockerignore').split('\n')).toEqual(expect.arrayContaining(['.git', '**/node_modules', '**/dist', '**/.svc']))
  })
})

describe('the compose file', () => {
  const compose = objectIn(parse(textOf('compose/compose.yaml')))
  const services = Object.entries(objectIn(compose['services'])).map(([name, service]) => [name, objectIn(service)] as const)

  it('has two gateways that write only into their volume and may gain no right', () => {
    const gateways = services.filter(([name]) => name.startsWith('gateway-')).map(([, service]) => service)
    expect(gateways).toHaveLength(2)
    for (const gateway of gateways)
      expect(gateway).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  })

  it('names the version of every image, mounts files that are there, and waits for services that are there', () => {
    const names = services.map(([name]) => name)
    for (const [name, { image, volumes = [], depends_on: needs = [] }] of services) {
      if (!name.startsWith('gateway-')) expect(image).toMatch(/^[a-z/-]+:v?\d/)
      const mounted = [volumes].flat().filter((volume): volume is string => typeof volume === 'string' && volume.startsWith('./'))
      for (const volume of mounted) expect(existsSync(resolve(ROOT, 'deploy/compose', volume.split(':')[0] ?? ''))).toBe(true)
      for (const other of Array.isArray(needs) ? needs : Object.keys(objectIn(needs))) expect(names).toContain(other)
    }
  })

  it('takes every secret from the environment, and the example names each without a value', () => {
    const wanted = [...textOf('compose/compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name)
    const given = [...textOf('compose/example.env').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const)
    expect(given.map(([name]) => name)).toEqual(expect.arrayContaining([...new Set(wanted)]))
    expect(given.filter(([name, value]) => /TOKEN|PASSWORD|SECRET|API_KEY/.test(name) && value !== '')).toEqual([])
  })

  it('has a configuration that the service reads: a database and a bucket', async () => {
    expect((await configured(textOf('compose/svc.yaml'))).storage).toMatchObject({
      record_backend: 'postgres',
      artifact_repository: 's3://releases/svc',
      s3: { endpoint: 'http://s3:7070', access_key_id: 'key', secret_access_key: 'secret' },
    })
  })

  it('balances without holding streams back and without sending a request twice', () => {
    const nginx = textOf('compose/nginx.conf')
    for (const line of ['proxy_buffering off;', 'proxy_next_upstream error;', 'client_max_body_size 64m;']) expect(nginx).toContain(line)
    expect(nginx).not.toContain('non_idempotent;')
  })
})

describe('the chart', () => {
  it('has the version of the service, and values whose configuration the service reads', async () => {
    const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(parse(textOf('helm/svc/Chart.yaml'))).toMatchObject({ version, appVersion: version })
    const values = objectIn(parse(textOf('helm/svc/values.yaml')))
    const { svc, storage } = await configured(stringify(values['config']))
    expect([svc.host, svc.token, storage.record_backend]).toEqual(['0.0.0.0', ENVIRONMENT.SVC_TOKEN, 'sqlite'])
  })
})

describe('the units', () => {
  it.each(globSync('*.service', { cwd: join(ROOT, 'deploy/systemd') }))('%s is one that systemd takes', (name) => {
    const folder = temporaryFolder()
    // The program and the user are not on this machine.
    const unit = textOf(`systemd/${name}`).replaceAll('/opt/svc/bin/svc', '/bin/true').replaceAll(/=svc$/gm, '=root')
    const file = join(folder, name.replace('@.', '@a.'))
    writeFileSync(file, unit)
    expect(execFileSync(program('systemd-analyze'), ['verify', '--man=no', file], { encoding: 'utf8', stdio: 'pipe' })).toBe('')
    expect(unit).toMatch(/^TimeoutStopSec=45$/m)
    expect(unit).toMatch(/^RestartPreventExitStatus=2$/m)
  })
})
