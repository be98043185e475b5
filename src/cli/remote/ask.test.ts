/** Asking for a change and following it; another try; saying how an exchange went. */
import { beforeEach, describe, expect, test } from 'vitest'
import { named, textAt } from '../../../test/spec/support/helpers.ts'
import { trainee } from '../../../test/spec/support/trainee.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import { HOLDING, typeCommand } from '../testing/surroundings.ts'

const here = sharedWorld({ settings: HOLDING })
let count = 0
let name = ''
beforeEach(async () => {
  name = `support-${(count += 1)}`
  await here.exchange(name)
})
const type = (...args: readonly string[]) => typeCommand(here.address, [...args, '--scenario', name])
const ask = (...args: readonly string[]) => type('ask', ...args, '--interval', '0.01')

describe('a request', () => {
  test('is followed to its result, with what to type next', async () => {
    const { exit, out } = await ask('Be', 'brief.')
    expect(exit).toBe(0)
    expect(out).toMatch(new RegExp(`^request [0-9a-f]{32} is filed: ${here.address}/svc/harness/requests/[0-9a-f]{32}/page`))
    expect(out).toMatch(new RegExp(`^${name} v1 [0-9a-f]{8}: held\\. The candidate waits`, 'm'))
    expect(out).toContain(`serve it: svc promote v1 --scenario ${name}`)
    expect(out).toContain(`look at it: svc show v1 --scenario ${name}`)
    const [row] = await trainee(here, name).releases()
    expect(row).toMatchObject({ training_request: { text: 'Be brief.', session: expect.stringMatching(/^terminal-/) } })
  })

  test('is stored and left alone with --no-wait; as JSON it has its page', async () => {
    const { exit, out } = await ask('Be kind.', '--no-wait', '--json')
    expect(exit).toBe(0)
    const filed = JSON.parse(out)
    expect(filed).toMatchObject({ scenario: name, request_type: 'train', page_url: expect.stringContaining(here.address) })
    await trainee(here, name).consumer(filed.agent_record_id)
  })

  test('as JSON is one object with the result', async () => {
    const settled = JSON.parse((await ask('Be exact.', '--json')).out)
    expect(settled).toMatchObject({ settled: true, state: 'pending', step: 1, release: { step: 1, pending: true } })
  })

  test('that comes to nothing is exit code 1, with the reason', async () => {
    const secret = 'password: hunter2 '.repeat(400)
    expect(await ask(secret)).toMatchObject({ exit: 1, out: '', err: [expect.stringContaining('4000 characters')] })
    expect(await type('ask')).toMatchObject({ exit: 2, err: ['say what should be different: svc ask "…"'] })
  })
})

describe('another try', () => {
  test('names the rejected release, the reason, what was asked for, and what else there is to say', async () => {
    await ask('Be brief.')
    expect(await ask('--again', 'v1')).toMatchObject({ exit: 1, err: [expect.stringContaining('v1 was not rejected')] })
    await type('reject', 'v1', '--reason', 'It is rude.')
    const release_id = textAt((await trainee(here, name).releases())[1] ?? {}, 'release_id')
    expect((await ask('Stay polite.', '--again', 'v1')).exit).toBe(0)
    const [row] = await trainee(here, name).releases()
    expect(row).toMatchObject({
      step: 3,
      training_request: {
        text: `Another try at release ${release_id}, which a person rejected. The reason: It is rude.\n\nStay polite.\n\nIt was asked for in these words: Be brief.`,
      },
    })
  })
})

describe('a report', () => {
  test('has the score and the words about the exchanges', async () => {
    const receipt = await here.exchange(name)
    const { exit, out } = await type('report', receipt, '--score', '0.5', '--text', 'Nearly.')
    expect(exit).toBe(0)
    const [, id = ''] = /^report ([0-9a-f]{32}) is stored$/.exec(out) ?? []
    expect((await here.get(`/svc/scenarios/${name}/records/${id}`, named(name))).json).toMatchObject({
      score: 0.5,
      references: [receipt],
      payload: { feedback: 'Nearly.' },
    })
  })

  test('says something, and of exchanges there are', async () => {
    const receipt = await here.exchange(name)
    expect(await type('report', receipt)).toMatchObject({ exit: 2, err: ['say how it was: --score 0, --text "…", or both'] })
    expect(await type('report', receipt, '--score', 'good')).toMatchObject({
      exit: 2,
      err: [expect.stringContaining('It must be a number.')],
    })
    expect(await type('report', 'nowhere', '--score', '1')).toMatchObject({ exit: 1, out: '' })
    expect(JSON.parse((await type('report', receipt, '--score', '-1', '--json')).out)).toMatchObject({
      scenario: name,
      request_type: 'report',
    })
  })
})
