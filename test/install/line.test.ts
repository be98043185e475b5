/** The install line that people are shown: as it is shown it installs, pins the key it carries, and gives the token to nobody who looks. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkedInstallLine } from '@svc-ai/client/signing'
import { beforeAll, describe, expect, it } from 'vitest'
import { program } from '../support/programs.ts'
import { bearer } from '../spec/support/helpers.ts'
import { jsonAt, sharedInstallWorld, TOKEN } from './install-world.ts'
import { makeMachine, namesBelow, type Ended, type Machine } from './machine.ts'

const SHELLS = ['dash', 'bash', 'bash --posix', 'busybox sh', 'zsh', 'ksh', 'mksh', 'yash'] as const
const world = sharedInstallWorld()

const lineFor = async (scenario: string): Promise<string> => {
  await world.scenario(scenario)
  const headers = { ...bearer(TOKEN), 'x-svc-scenario': Buffer.from(scenario).toString('latin1') }
  const { status, text } = await world.here.get('/svc/harness/install/line', headers)
  expect(status, text).toBe(200)
  return text
}

/** Every program that the line starts by name leaves its arguments in a file. */
function watched(): Machine & { readonly seen: () => string } {
  const machine = makeMachine()
  const log = join(machine.root, 'arguments')
  writeFileSync(log, '')
  for (const name of ['curl', 'printf', 'env']) {
    const path = join(machine.root, 'tools', name)
    writeFileSync(path, `#!/bin/sh\necho "${name} $*" >>'${log}'\nexec ${program(name)} "$@"\n`)
    chmodSync(path, 0o755)
  }
  return { ...machine, seen: () => readFileSync(log, 'utf8') }
}

const paste = (machine: Machine, shell: string, line: string): Promise<Ended> =>
  machine.run([...shell.split(' '), '-c', line], { env: { SVC_TOKEN: TOKEN } })

const pinned = (machine: Machine): unknown => {
  const file = namesBelow(machine.home).find((name) => name.endsWith('/trust.json')) ?? ''
  return jsonAt(join(machine.home, file))['key']
}

let shown = ''
beforeAll(async () => {
  shown = await lineFor('shown')
})

describe.each(SHELLS)('pasted into %s', (shell) => {
  it('the shown line installs, pins its key, and hands the token to curl on its input', async () => {
    const machine = watched()
    expect(shown).not.toContain(TOKEN)
    expect(await paste(machine, shell, shown)).toMatchObject({ code: 0, out: expect.stringContaining('installed release') })
    expect(pinned(machine)).toBe(/SVC_KEY=(\S+)/.exec(shown)?.[1])
    expect(machine.seen()).toContain('curl -sS -H @-')
    // mksh alone has no printf of its own.
    if (shell !== 'mksh') expect(machine.seen()).not.toContain(TOKEN)
  })
})

describe('a scenario’s name in the line', () => {
  it.each(["it's", '$(touch ran)', '`touch ran`', '"; touch ran; "', "'; touch ran; '", '\\', '!!', '東京', '-H', '@-', '%s%n'])(
    'is a name and nothing else: %s',
    async (name) => {
      const machine = makeMachine()
      expect(await paste(machine, 'bash', await lineFor(name))).toMatchObject({ code: 0 })
      expect(namesBelow(machine.root).filter((each) => each.endsWith('/ran'))).toEqual([])
    },
  )
})

describe('with the fingerprint of another key', () => {
  const other = `ed25519:${'A'.repeat(43)}`
  let line = ''
  beforeAll(async () => {
    line = await lineFor('other')
  })

  it('nothing is installed', async () => {
    const machine = makeMachine()
    const ended = await paste(machine, 'dash', line.replace(/SVC_KEY=\S+/, `SVC_KEY=${other}`))
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is trusted here; nothing was applied') })
    expect(machine.made()).toEqual([])
  })

  it('the line that checks first runs nothing at all', async () => {
    const machine = makeMachine()
    const order = { url: world.here.address, adapter: 'pi', scenario: 'other', hasToken: true, key: other }
    const ended = await paste(machine, 'dash', checkedInstallLine(order))
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining('nothing of it was run') })
    expect(machine.made()).toEqual([])
  })
})

it('beyond this machine and without TLS the shown line checks before it runs', async () => {
  const headers = { ...bearer(TOKEN), 'x-svc-scenario': 'shown', host: 'svc.example' }
  const { text } = await world.here.get('/svc/harness/install/line', headers)
  expect(text).toContain(' | node -e ')
})
