/** A machine that is given a token of the role agent: it installs, runs and asks with it, holds no other one, and is shut out when it is revoked. */
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { execute, fakeSurroundings } from '../../src/cli/testing/surroundings.ts'
import { sharedInstallWorld, TOKEN } from './install-world.ts'
import { makeMachine, namesBelow, type Machine } from './machine.ts'

const world = sharedInstallWorld()

const svc = (...args: readonly string[]) => execute(args, fakeSurroundings({}, { SVC_URL: world.here.address, SVC_TOKEN: TOKEN }))

const holders = (machine: Machine, text: string): readonly string[] =>
  namesBelow(machine.root).filter((name) => {
    const path = join(machine.root, name)
    return existsSync(path) && lstatSync(path).isFile() && readFileSync(path, 'latin1').includes(text)
  })

it('the lines of svc token create install with that token alone, and its revocation ends it [access.agent] [access.revoked]', async () => {
  await world.scenario('handed')
  const { out } = await svc('token', 'create', 'laptop', '--role', 'agent', '--scenario', 'handed')
  const [token = ''] = out.split('\n')
  const lines = out
    .split('\n')
    .slice(4)
    .map((line) => line.trim())
  expect(lines[0]).toBe(`export SVC_TOKEN=${token}`)
  const machine = makeMachine()
  expect(await machine.run(['dash', '-c', lines.join('\n')])).toMatchObject({ code: 0, out: expect.stringContaining('installed release') })
  expect(holders(machine, token).length).toBeGreaterThan(0)
  expect(holders(machine, TOKEN)).toEqual([])
  expect(await machine.command(['hello'])).toMatchObject({ code: 0 })
  expect(await machine.command(['update'])).toMatchObject({ code: 0, out: expect.stringContaining('already current') })
  await svc('token', 'revoke', 'laptop')
  const refused = await machine.command(['update'])
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('401')])
  expect(refused.err).not.toContain(token)
})
