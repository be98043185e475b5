/** Installs with the token of the deployment: the machine gets one of its own, of the role agent, and the one it was given is in no file. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import claude from '../../plugins/adapters/claude/index.ts'
import codex from '../../plugins/adapters/codex/index.ts'
import dsh from '../../plugins/adapters/dsh/index.ts'
import hermes from '../../plugins/adapters/hermes/index.ts'
import opencode from '../../plugins/adapters/opencode/index.ts'
import pi from '../../plugins/adapters/pi/index.ts'
import type { VendorInstall } from '../../agent/src/installation.ts'
import { closeServer, listenOnLoopback } from '../support/listen.ts'
import { IS_SHORT } from '../support/short.ts'
import { ownInstallWorld, sharedInstallWorld, TOKEN, tokensOf, type Scenario } from './install-world.ts'
import { filesHolding, makeMachine, permissionsAt, type Machine } from './machine.ts'

const world = sharedInstallWorld()

/** One that is fetched with npm and one that is fetched with git stand for the others in the short form. */
const ADAPTERS = IS_SHORT ? { hermes, pi } : { claude, codex, dsh, hermes, opencode, pi }

const tokenIn = (machine: Machine): string => readFileSync(join(machine.installFolder(), 'token'), 'utf8').trim()

describe.each(Object.entries(ADAPTERS))('for %s', (adapter, { plugin }) => {
  it('the token of the deployment is in no file, and the one in its place is of the role agent for that scenario alone [access.install]', async () => {
    const own = await ownInstallWorld({ adapter })
    const { machine, scenario } = await own.fresh('made')
    placeProgram(machine, plugin.install ?? expect.unreachable())
    const { code, out, err } = await scenario.install(machine, 'dash')
    expect({ code, err }).toMatchObject({ code: 0 })
    expect(filesHolding(machine, TOKEN)).toEqual([])
    const [made, ...others] = await tokensOf(scenario)
    expect(others).toEqual([])
    expect(made).toMatchObject({ role: 'agent', scenarios: ['made'], created_by: 'svc.token', expires_at: null })
    expect(made?.name).toMatch(new RegExp(`^[A-Za-z0-9_-]+-${adapter}-[0-9a-f]{8}$`))
    const token = tokenIn(machine)
    for (const name of filesHolding(machine, token)) expect([name, permissionsAt(join(machine.root, name))]).toEqual([name, '600'])
    expect(filesHolding(machine, token).length).toBeGreaterThan(1)
    expect(`${out}${err}`).not.toContain(token)
    expect(out).toContain(`token:   ${made?.name}`)
    expect(err).toContain('SVC_TOKEN was written nowhere; unset it')
  })
})

/** Fetched from a registry, or with git and pip, which this test does not do: it is there already. */
function placeProgram({ prefix }: Machine, { manager, package: name, lock = '', ...install }: VendorInstall): void {
  const { repository, commit, version, binary_path } = install
  const files = {
    [binary_path]: `#!/bin/sh\necho ${version}\n`,
    ...(manager === 'npm' && { [`node_modules/${name}/package.json`]: JSON.stringify({ version }), 'package-lock.json': lock }),
    ...(manager === 'git' && { 'venv/.svc-install-pin': `${repository}@${commit}\n` }),
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(prefix, path)), { recursive: true })
    writeFileSync(join(prefix, path), text)
  }
  chmodSync(join(prefix, binary_path), 0o755)
}

describe('the token of a machine', () => {
  it('is enough for sessions, reports, requests and updates, and a request with it is held [access.agent-asks]', async () => {
    const { machine, scenario } = await world.installed('enough')
    expect(await machine.command(['hello'])).toMatchObject({ code: 0, out: 'hello\n' })
    expect(await machine.command(['report', '--score', '1'])).toMatchObject({ code: 0 })
    expect(await machine.command(['doctor'])).toMatchObject({ out: expect.not.stringContaining('!!  service') })
    const asked = await machine.command(['harness', '--wait', 'Be brief.'])
    expect(asked).toMatchObject({ code: 0 })
    const held = (await scenario.svc.catalog()).find(({ pending }) => pending)
    expect(held?.metrics['held_because']).toMatch(/^it was asked for with the token \S+-pi-[0-9a-f]{8}, of the role agent$/)
    await scenario.svc.promote(held?.release_id ?? '')
    expect(await machine.command(['update'])).toMatchObject({ code: 0, out: expect.stringContaining('installed release') })
    expect(await machine.command(['page', '--print', 'v0'])).toMatchObject({ code: 0 })
    expect(await tokensOf(scenario)).toHaveLength(1)
    expect(filesHolding(machine, TOKEN)).toEqual([])
  })

  it('stays when the same line is run again, with the token of the deployment and without one', async () => {
    const { machine, scenario } = await world.installed('again')
    const [token, rows] = [tokenIn(machine), await tokensOf(scenario)]
    const input = (await scenario.script()).bytes
    for (const env of [{ SVC_TOKEN: TOKEN }, {}]) {
      const ended = await machine.run(['dash', '-s', '--', machine.destination, machine.prefix], { input, env })
      expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('is already current') })
    }
    expect([tokenIn(machine), await tokensOf(scenario)]).toEqual([token, rows])
  })

  it('is one, however many installs begin at once', async () => {
    const { machine, scenario } = await world.fresh('at once')
    const all = await Promise.all([1, 2, 3].map(() => scenario.install(machine, 'dash')))
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(await tokensOf(scenario)).toHaveLength(1)
    expect(await machine.command(['hello'])).toMatchObject({ code: 0 })
  })

  it('is another one for another folder, another machine and another scenario', async () => {
    const { machine, scenario } = await world.installed('several')
    await scenario.install(machine, 'dash', { args: [join(machine.root, 'second'), machine.prefix] })
    await scenario.install(makeMachine(), 'dash')
    expect(new Set((await tokensOf(scenario)).map(({ name }) => name)).size).toBe(3)
  })

  it('is made anew under its name when it was revoked, and rotated when its secret was lost', async () => {
    const { machine, scenario } = await world.installed('anew')
    const [row] = await tokensOf(scenario)
    await scenario.svc.revokeToken(row?.name ?? '')
    const first = tokenIn(machine)
    expect(await scenario.install(machine, 'dash')).toMatchObject({ code: 0 })
    const second = tokenIn(machine)
    rmSync(join(machine.installFolder(), 'token'))
    expect(await scenario.install(machine, 'dash')).toMatchObject({ code: 0 })
    expect(new Set([first, second, tokenIn(machine)]).size).toBe(3)
    expect((await tokensOf(scenario)).map(({ name }) => name)).toEqual([row?.name])
    expect(await machine.command(['hello'])).toMatchObject({ code: 0 })
  })

  it('takes the place of the token of the deployment that an earlier install kept, at its next update', async () => {
    const { machine, scenario } = await world.installed('earlier')
    const [made] = await tokensOf(scenario)
    await scenario.svc.revokeToken(made?.name ?? '')
    writeFileSync(join(machine.installFolder(), 'token'), `${TOKEN}\n`)
    rmSync(join(machine.installFolder(), 'token-name.json'))
    await scenario.order('Be brief.')
    expect(await machine.command(['update'])).toMatchObject({ code: 0, out: expect.stringContaining('installed release') })
    expect(filesHolding(machine, TOKEN)).toEqual([])
    expect(await tokensOf(scenario)).toMatchObject([{ role: 'agent' }])
  })

  it('is revoked with the install where SVC_TOKEN may do that, else the line says which one is left', async () => {
    const { machine, scenario } = await world.installed('ended')
    const [row] = await tokensOf(scenario)
    const left = await machine.command(['uninstall', '--yes'], { folder: '.' })
    expect(left).toMatchObject({ code: 0, err: expect.stringContaining(`an administrator ends it: svc token revoke ${row?.name}`) })
    expect(await tokensOf(scenario)).toHaveLength(1)
    await scenario.install(machine, 'dash')
    const ended = await machine.command(['uninstall', '--yes'], { folder: '.', env: { SVC_TOKEN: TOKEN } })
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('revoked the token '), err: '' })
    expect((await tokensOf(scenario)).map(({ name }) => name)).toEqual([row?.name])
  })
})

describe('a token that is no machine’s', () => {
  it.each(['review', 'read', 'serve'] as const)('of the role %s is refused in one line, and nothing is written', async (role) => {
    const { machine, scenario } = await world.fresh(`as ${role}`)
    const { token } = await scenario.svc.createToken({ name: `as-${role}`, role })
    const ended = await piped(machine, scenario, token)
    expect(ended).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^svc: the token as-\w+ has the role \w+, with which no agent runs; [^\n]*\n$/),
    })
    expect(ended.err).toContain(`svc token create NAME --role agent --scenario 'as ${role}'`)
    expect(filesHolding(machine, token)).toEqual([])
    expect(machine.npmCalls()).toEqual([])
  })

  it('of the role agent for another scenario is refused in one line', async () => {
    const { machine, scenario } = await world.fresh('own')
    await world.scenario('others')
    const { token } = await scenario.svc.createToken({ name: 'of-others', role: 'agent', scenarios: ['others'] })
    expect(await piped(machine, scenario, token)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^svc: the token of-others is for other scenarios; [^\n]*\n$/),
    })
    expect(filesHolding(machine, token)).toEqual([])
  })
})

const piped = async (machine: Machine, scenario: Scenario, token: string, script?: Uint8Array) =>
  machine.run(['dash', '-s', '--', machine.destination, machine.prefix], {
    input: script ?? (await scenario.script()).bytes,
    env: { SVC_TOKEN: token },
  })

describe('a service that makes no token', () => {
  const TROUBLES: readonly (readonly [string, (request: IncomingMessage, response: ServerResponse) => void])[] = [
    ['fails', (_request, response) => void response.writeHead(500).end('{"error":{"message":"it broke"}}')],
    [
      'may not write',
      (_request, response) => void response.writeHead(503).end('{"error":{"message":"no writes","code":"store_unwritable"}}'),
    ],
    ['is too old to know how', (_request, response) => void response.writeHead(404).end('{"error":{"message":"no such route"}}')],
    [
      'has as many as there can be',
      (_request, response) => void response.writeHead(409).end('{"error":{"code":"token_limit","message":"full"}}'),
    ],
    ['answers with another page', (_request, response) => void response.end('<html>')],
    ['breaks off', (request) => void request.socket.destroy()],
    [
      'answers with one that may do more',
      (_request, response) => void response.end('{"name":"n","role":"admin","scenarios":null,"token":"x"}'),
    ],
    [
      'answers with one for more scenarios',
      (_request, response) => void response.end('{"name":"n","role":"agent","scenarios":["a","b"],"token":"x"}'),
    ],
    [
      'answers with one that would break out of a setting',
      (_request, response) => void response.end('{"name":"n","role":"agent","scenarios":["between"],"token":"x\\"\\ny"}'),
    ],
  ]
  it.each(TROUBLES)('because it %s stops the install in one line, and no token is written', async (_name, trouble) => {
    const scenario = await between()
    const address = await proxyTo(world.here.address, trouble)
    const machine = makeMachine()
    const line = `curl -sS -H "authorization: Bearer $SVC_TOKEN" -H 'x-svc-scenario: between' "$1/svc/harness/install?adapter=pi" | dash -s -- "$2" "$3"`
    const words = ['sh', '-c', line, 'sh', address, machine.destination, machine.prefix]
    const ended = await machine.run(words, { env: { SVC_TOKEN: TOKEN } })
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^svc: [^\n]*; [^\n]*run the same line [^\n]*\n$/) })
    expect(ended.err).not.toContain(TOKEN)
    expect(filesHolding(machine, TOKEN)).toEqual([])
    expect(machine.npmCalls()).toEqual([])
    expect(await tokensOf(scenario)).toEqual([])
  })
})

let made: Promise<Scenario> | undefined
const between = (): Promise<Scenario> => (made ??= world.scenario('between'))

/** Passes everything on but the making of tokens. */
async function proxyTo(address: string, trouble: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const passOn = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { host = '', authorization = '' } = request.headers
    const headers = { 'x-forwarded-host': host, authorization, 'x-svc-scenario': 'between' }
    const answer = await fetch(address + (request.url ?? ''), { headers })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(await answer.text())
  }
  const server = createServer((request, response) => {
    if (request.method === 'POST' && request.url === '/svc/tokens') trouble(request, response)
    else void passOn(request, response)
  })
  onTestFinished(() => closeServer(server))
  return `http://127.0.0.1:${await listenOnLoopback(server)}`
}

it('an open service makes none, and a token that is set all the same is written nowhere', async () => {
  const { bytes } = await (await (await ownInstallWorld({ isOpen: true })).scenario('open')).script()
  for (const env of [{}, { SVC_TOKEN: 'of-another-service' }]) {
    const machine = makeMachine()
    const ended = await machine.run(['dash', '-s', '--', machine.destination, machine.prefix], { input: bytes, env })
    expect(ended).toMatchObject({ code: 0, out: expect.not.stringContaining('token:') })
    expect(filesHolding(machine, 'of-another-service')).toEqual([])
    expect(await machine.command(['hello'])).toMatchObject({ code: 0, out: 'hello\n' })
  }
})
