/** Refusals of the install route: a shell that runs the answer prints the reason and does nothing else. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/folder.ts'
import { sharedInstallWorld, TOKEN } from './install-world.ts'
import { makeMachine, SHELLS, type Ended, type Machine } from './machine.ts'

const HOSTILE = [
  '$(touch ran)',
  '`touch ran`',
  '"; touch ran; "',
  "'; touch ran; '",
  '\\"$(touch ran)',
  '}\ntouch ran\n{',
  '!!',
  '; touch ran #',
]

const world = sharedInstallWorld()
beforeAll(() => world.scenario('mine'))

/** Every way to have something repeated, as a script and as JSON. */
async function refusalsIn(folder: string): Promise<number> {
  const asked = HOSTILE.flatMap((text) => {
    const [word, header, mine] = [encodeURIComponent(text), text.replaceAll('\n', ' '), { 'x-svc-scenario': 'mine' }]
    return [
      ['adapter=pi', { 'x-svc-scenario': header }],
      [`adapter=${word}`, mine],
      [`adapter=pi&release_id=${word}`, mine],
      ['adapter=pi', { ...mine, 'x-forwarded-host': header }],
      ['adapter=pi', { ...mine, 'x-forwarded-proto': header }],
    ] as const
  })
  for (const [index, [query, headers]] of asked.entries())
    for (const accept of ['*/*', 'application/json']) {
      const answer = await world.here.get(`/svc/harness/install?${query}`, { authorization: `Bearer ${TOKEN}`, accept, ...headers })
      expect([400, 404]).toContain(answer.status)
      writeFileSync(join(folder, `${accept === '*/*' ? 'script' : 'json'}-${index}`), answer.bytes)
    }
  return asked.length
}

describe.each(SHELLS)('under %s', (shell) => {
  it('a refusal that repeats what was sent runs nothing of it, as a script or as JSON [harness.install-4]', async () => {
    const [machine, folder] = [makeMachine(), temporaryFolder()]
    const count = await refusalsIn(folder)
    const loop = `for file in '${folder}'/*; do ${shell} <"$file"; echo "\${file##*/} $?"; done`
    const { out, err } = await machine.run(['sh', '-c', loop])
    const ends = out.trimEnd().split('\n')
    expect(ends.filter((end) => /^script-\d+ 1$/.test(end))).toHaveLength(count)
    expect(ends.filter((end) => /^json-\d+ [1-9]\d*$/.test(end))).toHaveLength(count)
    expect(err.split('\n').filter((line) => /^svc: 40[04]: /.test(line))).toHaveLength(count)
    expect(machine.made()).toEqual([])
  })

  it.each([
    ['a misspelt adapter', 'adapter=pie', [], /^svc: 404: adapter: there is none of that name; there are .*\bpi\b.*\n$/],
    ['no adapter', '', [], /^svc: 400: adapter: name the adapter/],
    ['an agent without a program', 'adapter=native', [], /^svc: 400: .*GET \/svc\/harness,.*POST \/svc\/train\n$/],
    ['a token that is not the service’s', 'adapter=pi', ['authorization: Bearer wrong'], /^svc: 401: the token is not one/],
    ['a token in the address', 'adapter=pi&token=x', [], /^svc: 401: /],
  ])('%s is said in a line, with the status it has, and exits 1', async (_what, query, headers, message) => {
    const machine = makeMachine()
    expect(await piped(machine, shell, query, headers)).toEqual({ code: 1, out: '', err: expect.stringMatching(message) })
    expect(machine.made()).toEqual(['curl.conf'])
  })

  it('the first line alone of a script, or of a refusal, runs nothing', async () => {
    const machine = makeMachine()
    for (const headers of [['x-svc-scenario: mine'], ['x-svc-scenario: none'], []]) {
      const { code, out } = await piped(machine, shell, 'adapter=pi', headers, 'head -n 1 |')
      expect({ isRun: code === 0, out }).toEqual({ isRun: false, out: '' })
    }
    expect(machine.made()).toEqual(['curl.conf'])
    expect((await world.here.get('/svc/scenarios', { authorization: `Bearer ${TOKEN}` })).text).not.toContain('harness-')
  })
})

/** `curl -sS … | sh`, with the token unless a header brings another. */
function piped(machine: Machine, shell: string, query: string, headers: readonly string[], between = ''): Promise<Ended> {
  const file = join(machine.root, 'curl.conf')
  const pass = headers.some((header) => header.startsWith('authorization')) ? [] : [`authorization: Bearer ${TOKEN}`]
  const quoted = [...pass, ...headers].map((header) => `header = "${header.replaceAll(/["\\]/g, String.raw`\$&`)}"\n`)
  writeFileSync(file, [`url = "${world.here.address}/svc/harness/install?${query}"\n`, ...quoted].join(''))
  return machine.run(['sh', '-c', `curl -sS -K '${file}' | ${between} ${shell}`])
}
