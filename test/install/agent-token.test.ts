/** A machine that is given a token of the role agent: it installs, runs and asks with it, holds no other one, and is shut out when it is revoked. */
import { expect, it } from 'vitest'
import { execute, fakeSurroundings } from '../../src/cli/testing/surroundings.ts'
import { sharedInstallWorld, TOKEN } from './install-world.ts'
import { filesHolding, makeMachine } from './machine.ts'

const world = sharedInstallWorld()

const svc = (...args: readonly string[]) => execute(args, fakeSurroundings({}, { SVC_URL: world.here.address, SVC_TOKEN: TOKEN }))

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
  expect(filesHolding(machine, token).length).toBeGreaterThan(0)
  expect(filesHolding(machine, TOKEN)).toEqual([])
  expect(await machine.command(['hello'])).toMatchObject({ code: 0 })
  expect(await machine.command(['update'])).toMatchObject({ code: 0, out: expect.stringContaining('already current') })
  await svc('token', 'revoke', 'laptop')
  const refused = await machine.command(['update'])
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('401')])
  expect(refused.err).not.toContain(token)
})
