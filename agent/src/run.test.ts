import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installed, NOWHERE, SCENARIO, start, type TestInstall } from './testing/agent-install.ts'
import { transcript } from './testing/harness-home.ts'
import { json, upstream } from './testing/upstream.ts'
import { sessionsOf } from './captures.ts'
import { capturesFolder } from './places.ts'
import { isAlive } from '@svc-ai/client/shared'
import { report } from './report.ts'

const ASK = `
  const ask = () => fetch(process.env.SVC_PROXY_URL + '/v1/chat/completions', {
    method: 'POST', body: '{}', headers: { authorization: 'Bearer ' + process.env.SVC_PROXY_KEY },
  }).then((answer) => answer.text())`
const FOR_EVER = 'setInterval(() => {}, 1000)'

const answering = () => {
  let count = 0
  return upstream((_heard, response) => response.writeHead(200, { 'x-svc-agent-record-id': `r-${(count += 1)}` }).end('{}'))
}
const kept = ({ folder }: TestInstall, path: string): string => readFileSync(join(folder, 'state', path), 'utf8')
const runsOf = ({ folder }: TestInstall): string[] => readdirSync(join(folder, 'runs'))

async function line(child: ReturnType<typeof start>['child']): Promise<string> {
  const [chunk]: unknown[] = child.stdout === null ? [] : await once(child.stdout, 'data')
  return String(chunk).trim()
}

describe('the agent', () => {
  it('finds the tree, its model behind the proxy, and its own words and exit status pass as they are', async () => {
    const look = `const fs = require('node:fs'); const dir = process.env.PI_DIR
      const read = (path) => fs.readFileSync(dir + '/' + path, 'utf8')
      console.log(JSON.stringify({ args: process.argv.slice(2), env: process.env, rules: read('AGENTS.md'), skill: read('skills/a/SKILL.md'),
        models: JSON.parse(read('models.json')), settings: JSON.parse(read('settings.json')),
        mode: fs.statSync(dir + '/models.json').mode & 0o777, isLink: fs.lstatSync(dir + '/AGENTS.md').isSymbolicLink() }))
      console.error('own words'); process.exit(7)`
    const install = await installed(NOWHERE, look)
    const { code, stdout, stderr } = await start(install, '-p', 'a b', '', '--flag').end
    expect([code, stderr]).toEqual([7, 'own words\n'])
    const seen: Record<string, Record<string, string>> = JSON.parse(stdout)
    expect(seen).toMatchObject({
      args: ['-p', 'a b', '', '--flag'],
      rules: 'Be brief.\n',
      skill: 'A skill.\n',
      settings: { model: 'm' },
      mode: 0o600,
      isLink: false,
    })
    const env = seen['env'] ?? {}
    expect(env).toMatchObject({
      PI_QUIET: '1',
      FROM_FILE: 'kept',
      BOTH: 'shell',
      SVC_WRAPPER: join(install.folder, 'svc-pi'),
      SVC_RELEASE: 'release-1',
      SVC_SCENARIO: SCENARIO,
      SVC_HARNESS_ROOT: install.destination,
      NO_PROXY: 'internal.example,127.0.0.1',
      no_proxy: 'internal.example,127.0.0.1',
    })
    expect(env['PATH']?.split(':')[0]).toBe(join(install.home, 'prefix/bin'))
    expect(seen['models']).toEqual({ url: `${env['SVC_PROXY_URL']}/v1`, key: env['SVC_PROXY_KEY'] })
    expect(stdout).not.toContain('secret-token')
    expect(runsOf(install)).toEqual([])
  })

  it('takes over what of the person’s own is named, says so, and nothing of it otherwise', async () => {
    const look = `const fs = require('node:fs'); const dir = process.env.PI_DIR
      const read = (path) => fs.existsSync(dir + '/' + path) ? fs.readFileSync(dir + '/' + path, 'utf8') : ''
      console.log(JSON.stringify({ args: process.argv.slice(2), rules: read('AGENTS.md'), own: JSON.parse(read('own.json') || 'null') }))`
    const takes = {
      memory: { from: '.pi/AGENTS.md', to: 'pi-agent/AGENTS.md' },
      mcp: { from: '.pi.json', to: 'pi-agent/own.json', fields: [['servers'], ['projects', '{folder}', 'servers']] },
    }
    const { client } = (await installed()).record
    const install = await installed(NOWHERE, look, { client: { ...client, takes } })
    const run = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await start(install, ...args).end
      const seen: unknown = stdout === '' ? null : JSON.parse(stdout)
      return { code, seen, said: stderr.trimEnd().split('\n') }
    }
    expect(await run('--take', 'memory', 'x')).toMatchObject({
      code: 0,
      said: ['svc-pi: there is no memory to take over: ~/.pi/AGENTS.md is no file'],
    })
    mkdirSync(join(install.home, '.pi'))
    writeFileSync(join(install.home, '.pi/AGENTS.md'), 'Mine.\n')
    const cwd = process.cwd()
    const own = {
      servers: { a: 1 },
      token: 'secret',
      projects: { [cwd]: { servers: { b: 1 }, trusted: true }, '/elsewhere': { servers: {} } },
    }
    writeFileSync(join(install.home, '.pi.json'), JSON.stringify(own))
    const bare = { args: ['--', '--take', 'memory'], rules: 'Be brief.\n', own: null }
    expect((await run('--', '--', '--take', 'memory')).seen).toEqual(bare)
    expect(await run('--take=mcp,memory', '-p', 'x')).toEqual({
      code: 0,
      seen: {
        args: ['-p', 'x'],
        rules: 'Be brief.\n\nMine.\n',
        own: { servers: { a: 1 }, projects: { [cwd]: { servers: { b: 1 } } } },
      },
      said: ['svc-pi: takes over memory from ~/.pi/AGENTS.md', 'svc-pi: takes over mcp from ~/.pi.json'],
    })
    expect((await run('x')).seen).toEqual({ ...bare, args: ['x'] })
    expect(await run('--take', 'login')).toEqual({
      code: 2,
      seen: null,
      said: [`svc-pi: --take: "login" of pi cannot be taken over; there is: memory, mcp; see 'svc-pi help'`],
    })
  })

  it('gets everything after -- and what is no command of ours', async () => {
    const install = await installed(NOWHERE, 'console.log(JSON.stringify(process.argv.slice(2)))')
    expect((await start(install, '--', 'report', '--score').end).stdout).toBe('["report","--score"]\n')
    expect((await start(install, 'constructor', '--').end).stdout).toBe('["constructor","--"]\n')
    expect((await start(install).end).stdout).toBe('[]\n')
  })

  it('speaks to the service with the token it never sees, and its receipts are kept for a report', async () => {
    const service = await answering()
    const install = await installed(service.url, `${ASK}; ask().then(ask).then(() => process.exit(0))`)
    expect(await start(install).end).toMatchObject({ code: 0, stderr: '' })
    const [session] = await sessionsOf(capturesFolder(install.home), install.record)
    expect(session).toMatchObject({ receipts: ['r-1', 'r-2'], isLive: false, release_id: 'release-1' })
    expect(service.heard[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      'x-svc-tag-session': session?.session,
      'x-svc-tag-release': 'release-1',
    })
  })

  it('can ask for a change of its harness without holding the token', async () => {
    const main = JSON.stringify(join(import.meta.dirname, 'main.ts'))
    const nested = `const { spawnSync } = require('node:child_process')
      const folder = require('node:path').dirname(process.env.SVC_WRAPPER)
      const { stdout, stderr } = spawnSync(process.execPath, [${main}, folder, 'harness', 'be nicer'], { encoding: 'utf8' })
      process.stdout.write(stdout); process.stderr.write(stderr)`
    const service = await upstream((_heard, response) =>
      json(response, 200, { agent_record_id: 'q-1', scenario: SCENARIO, request_type: 'train', page_path: '/svc/page?key=k' }),
    )
    const install = await installed(service.url, nested)
    const { stdout, stderr } = await start(install).end
    expect([stdout, stderr]).toEqual([`request q-1 is filed\n${service.url}/svc/page?key=k\n`, ''])
    expect(service.heard[0]?.headers).toMatchObject({ authorization: 'Bearer secret-token' })
    const filed: unknown = JSON.parse(service.heard[0]?.body ?? '')
    expect(filed).toMatchObject({ text: 'be nicer', release_id: 'release-1', session: service.heard[0]?.headers['x-svc-tag-session'] })
  })
})

describe('what the agent keeps', () => {
  const write = `const fs = require('node:fs'); const at = (path) => process.env.PI_DIR + '/' + path`

  it('is there in its next session, also what it replaced; the tree, the binding and whatever else it left are not', async () => {
    const first = `${write}
      fs.writeFileSync(at('auth.json'), 'one'); fs.writeFileSync(at('sessions/s1'), 's1'); fs.writeFileSync(at('history'), 'h')
      fs.mkdirSync(at('cache/deep'), { recursive: true }); fs.writeFileSync(at('cache/deep/x'), 'x')
      fs.mkdirSync(at('skills/own')); fs.writeFileSync(at('skills/own/SKILL.md'), 'own')
      fs.rmSync(at('AGENTS.md')); fs.writeFileSync(at('AGENTS.md'), 'mine'); fs.writeFileSync(at('models.json'), 'mine')`
    const install = await installed(NOWHERE, first)
    expect(await start(install).end).toEqual({ code: 0, stdout: '', stderr: '' })
    for (const path of ['cache', 'history', 'AGENTS.md', 'models.json', 'skills'])
      expect(existsSync(join(install.folder, 'state/pi-agent', path)), path).toBe(false)
    const second = `${write}
      const read = (path) => fs.readFileSync(at(path), 'utf8')
      console.log(['auth.json', 'sessions/s1', 'skills/a/SKILL.md', 'AGENTS.md'].map(read).join('|'), ['skills/own', 'cache', 'history'].some((path) => fs.existsSync(at(path))))
      fs.writeFileSync(at('new'), 'two'); fs.renameSync(at('new'), at('auth.json'))`
    writeFileSync(install.record.executable, `#!/usr/bin/env node\n${second}`)
    expect((await start(install).end).stdout).toBe('one|s1|A skill.\n|Be brief.\n false\n')
    expect(kept(install, 'pi-agent/auth.json')).toBe('two')
    expect(readFileSync(join(install.destination, 'pi-agent/AGENTS.md'), 'utf8')).toBe('Be brief.\n')
  })

  it('is shared by two sessions that run at once', async () => {
    const meet = `${write}
      const [mine, other] = process.argv.slice(2)
      fs.writeFileSync(at('sessions/' + mine), mine)
      const look = setInterval(() => { if (fs.existsSync(at('sessions/' + other))) { clearInterval(look); console.log('met ' + other) } }, 5)`
    const install = await installed(NOWHERE, meet)
    const both = await Promise.all([start(install, 'a', 'b').end, start(install, 'b', 'a').end])
    expect(both.map(({ stdout }) => stdout)).toEqual(['met b\n', 'met a\n'])
    expect(runsOf(install)).toEqual([])
  })

  it('of a session that was killed is there in the next, once the agent is gone too', async () => {
    const linger = `${write}
      if (process.argv[2] === 'stay') { fs.rmSync(at('auth.json'), { force: true }); fs.writeFileSync(at('auth.json'), 'behind'); console.log(process.pid); ${FOR_EVER} }
      else console.log(fs.existsSync(at('auth.json')))`
    const install = await installed(NOWHERE, linger)
    const { child } = start(install, 'stay')
    const agent = Number(await line(child))
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect((await start(install).end).stdout).toBe('false\n')
    expect(runsOf(install)).toHaveLength(2)
    process.kill(agent, 'SIGKILL')
    await gone(agent)
    expect((await start(install).end).stdout).toBe('true\n')
    expect(runsOf(install)).toEqual([])
  })
})

/** There is no event for the end of a process that is not a child. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve))
}

describe('the end of a session', () => {
  it('by SIGKILL leaves its receipts to be reported', async () => {
    const service = await upstream((heard, response) => {
      if (heard.url === '/svc/report') return json(response, 200, { agent_record_id: 'x', scenario: SCENARIO, request_type: 'report' })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return response.write('data: {"choices":[],"svc.agent_record_id":"r-1"}\n\n')
    })
    const read = `fetch(process.env.SVC_PROXY_URL + '/v1/chat/completions', { method: 'POST', body: '{}', headers: { 'x-api-key': process.env.SVC_PROXY_KEY } })
      .then(async ({ body }) => { for await (const chunk of body) console.log(process.pid, Buffer.from(chunk).toString()) })`
    const install = await installed(service.url, read)
    const { child } = start(install)
    const agent = Number.parseInt(await line(child), 10)
    child.kill('SIGKILL')
    await once(child, 'exit')
    process.kill(agent, 'SIGKILL')
    await report(install, ['--score', '1'], transcript())
    expect(JSON.parse(service.heard.at(-1)?.body ?? '')).toMatchObject({ references: ['r-1'] })
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('by %s is the agent’s to decide', async (signal) => {
    const decide = `process.on('${signal}', () => { console.log('caught'); process.exit(5) }); console.log('ready'); ${FOR_EVER}`
    const install = await installed(NOWHERE, decide)
    const { child, end } = start(install)
    await line(child)
    child.kill(signal)
    expect(await end).toMatchObject({ code: 5, stdout: 'ready\ncaught\n' })
    expect(runsOf(install)).toEqual([])
  })

  it('of an agent that a signal ended is 128 and the signal', async () => {
    const install = await installed(NOWHERE, `process.kill(process.pid, 'SIGKILL')`)
    expect(await start(install).end).toMatchObject({ code: 137 })
    const { child, end } = start(await installed(NOWHERE, `console.log('ready'); ${FOR_EVER}`))
    await line(child)
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 143 })
  })
})

describe('before a session', () => {
  it('files that were changed by hand are named once, and the session runs with them', async () => {
    const install = await installed(NOWHERE, `console.log(require('node:fs').readFileSync(process.env.PI_DIR + '/AGENTS.md', 'utf8'))`)
    writeFileSync(join(install.destination, 'pi-agent/AGENTS.md'), 'Be long.')
    rmSync(join(install.destination, 'pi-agent/skills'), { recursive: true })
    const { code, stdout, stderr } = await start(install).end
    expect([code, stdout]).toEqual([0, 'Be long.\n'])
    expect(stderr).toBe("svc-pi: pi-agent/AGENTS.md, pi-agent/skills/a/SKILL.md are not as installed; 'svc-pi update' writes them again\n")
  })

  it('what is not set up is named once, and the session runs', async () => {
    const install = await installed(NOWHERE, '', { requires: [{ name: 'mail', kind: 'service' }] })
    expect(await start(install).end).toEqual({ code: 0, stdout: '', stderr: "svc-pi: mail is not set up; run 'svc-pi setup'\n" })
  })

  it('a program that is gone is one line with what to do', async () => {
    const install = await installed(NOWHERE)
    rmSync(install.record.executable)
    const { code, stderr } = await start(install).end
    expect([code, stderr.split('\n').length]).toEqual([1, 2])
    expect(stderr).toContain('svc-pi doctor')
    expect(runsOf(install)).toEqual([])
  })

  it('a token that cannot be sent is one line that does not hold it', async () => {
    const install = await installed(NOWHERE)
    const { code, stderr } = await start({ ...install, env: { ...install.env, SVC_TOKEN: 'sécret' } }).end
    expect([code, stderr]).toEqual([1, 'svc-pi: SVC_TOKEN holds characters that no token has; copy it again\n'])
  })

  it('an install whose record is gone is one line with what to do', async () => {
    const install = await installed(NOWHERE)
    rmSync(join(install.folder, 'record.json'))
    const { code, stderr } = await start(install).end
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^svc: .*install script.*\n$/)])
  })
})
