/** Promoting what is held, and going back, over a scenario with the files of an agent. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LEDGER_RECIPE } from '../../../test/spec/support/helpers.ts'
import { plantHistory, PLANTED, type Planted } from '../../../test/spec/support/planted.ts'
import { fresh, trainee } from '../../../test/spec/support/trainee.ts'
import { world, type World } from '../../../test/support/world.ts'
import { HOLDING, typeCommand, fakeSurroundings, type FakeTerminal } from '../testing/surroundings.ts'
import { runCli } from '../program.ts'

let here: World
const type = (args: readonly string[], terminal?: FakeTerminal) => typeCommand(here.address, args, terminal)
const served = async (scenario: string): Promise<unknown> => (await trainee(here, scenario).head())['step']

/** A scenario that holds one change, beside whatever the others of this service do. */
async function holding(scenario: string): Promise<string> {
  await here.exchange(scenario)
  await trainee(here, scenario).ask('Be brief.\nBe kind.')
  await trainee(here, scenario).row(1)
  return scenario
}

describe('a scenario that holds a change', () => {
  let count = 0
  let name = ''
  beforeAll(async () => {
    here = await world({ settings: HOLDING })
  })
  beforeEach(async () => {
    name = await holding(`support-${(count += 1)}`)
  })
  afterAll(() => here.close())
  const promoted = () => type(['promote', 'v1', '--scenario', name])

  test('promoted twice at once moves once, and both print what is served', async () => {
    const both = await Promise.all([promoted(), promoted()])
    expect(both.map(({ exit }) => exit)).toEqual([0, 0])
    for (const { out } of both) expect(out).toMatch(new RegExp(`^${name} serves v2 `))
    expect((await promoted()).out).toMatch(new RegExp(`^${name} serves v2 [0-9a-f]{8} already$`))
    expect(await served(name)).toBe(2)
  })

  test('promotes the release that waits without its name; with none or several it says so, and how to choose', async () => {
    const waiting = () => type(['promote', '--scenario', name])
    expect((await waiting()).out).toMatch(new RegExp(`^${name} serves v2 [0-9a-f]{8}, the content of v1\n`))
    expect(await waiting()).toMatchObject({ exit: 1, out: '', err: [`nothing of ${name} waits for review`] })
    for (const [text, step] of [
      ['Be polite.', 3],
      ['Be exact.', 4],
    ] as const) {
      await trainee(here, name).ask(text)
      await trainee(here, name).row(step)
    }
    expect(await waiting()).toMatchObject({
      exit: 2,
      out: '',
      err: [
        expect.stringMatching(
          new RegExp(`^which release\\? These wait for review: v4 \\(.*\\), v3 \\(.*\\); name one: svc promote v4 --scenario ${name}$`),
        ),
      ],
    })
    expect(await served(name)).toBe(2)
  })

  test('rejects the release that waits, with a reason that is shown and that nobody can promote over', async () => {
    const reason = 'Too \u001b[31mlong\u202e,\nand rude.'
    expect(await type(['reject', '--scenario', name])).toMatchObject({
      exit: 2,
      out: '',
      err: [`nothing was changed; say why: svc reject v1 --scenario ${name} --reason "…"`],
    })
    expect(await type(['reject', '--scenario', name, '--reason', reason])).toMatchObject({
      exit: 1,
      err: [expect.stringContaining('no control characters')],
    })
    const said = await type(['reject', '--scenario', name], { answers: ['Too long\u202e, and rude.'] })
    expect(said).toMatchObject({ exit: 0, asked: 'Why is v1 rejected? ' })
    expect(said.out).toMatch(new RegExp(`^v1 is rejected; ${name} goes on serving v0 [0-9a-f]{8}$`))
    const { out } = await type(['releases', name])
    expect(out).toContain('rejected by a person')
    expect(out).toContain('Rejects v1: Too long[U+202E], and rude.')
    expect(out).not.toContain('waits for review')
    expect(await promoted()).toMatchObject({
      exit: 1,
      err: ['v1 was rejected (Too long[U+202E], and rude.); nothing else waits for review'],
    })
    expect(await type(['reject', '--scenario', name, '--reason', 'x'])).toMatchObject({
      exit: 1,
      err: [`nothing of ${name} waits for review`],
    })
    expect(await served(name)).toBe(0)
  })

  test('is commented on, which decides nothing', async () => {
    const said = await type(['comment', 'v1', 'Who', 'asked\u202e for this?', '--scenario', name])
    expect(said).toMatchObject({ exit: 0, out: `the comment stands with v1 of ${name}; nothing else changed` })
    expect((await type(['show', 'v1', '--scenario', name])).out).toContain('a person, just now: Who asked[U+202E] for this?')
    expect((await type(['releases', name])).out).toContain('About v1: Who asked[U+202E] for this?')
    expect(await type(['comment', 'v0', 'x', '--scenario', name])).toMatchObject({ exit: 1, err: [expect.stringContaining('never held')] })
    expect((await type(['releases', name])).out).toContain('1 release waits for review')
  })

  test('approved is promoted, and a comment stays with the release', async () => {
    expect((await type(['approve', '--scenario', name, '--comment', 'Looks right.'])).out).toContain(`${name} serves v2 `)
    expect((await type(['releases', name])).out).toContain('Serves the content of v1: Looks right.')
  })

  test('goes back when the question is answered with yes, which says what changes', async () => {
    await promoted()
    const { exit, out, asked } = await type(['rollback', 'step', '0', '--scenario', name], { answers: ['y'] })
    expect(asked).toMatch(
      /^[\w-]+: v2 [0-9a-f]{8} \(.*\) → v0 [0-9a-f]{8} \(.*\)\n( {2}.*\n)+v2 stays and can be served again\.\nRoll back\? \[y\/N\] $/,
    )
    expect(asked).toMatch(/^ {2}(removed|changed) {2}pi-agent\/AGENTS\.md/m)
    expect(exit).toBe(0)
    expect(out).toMatch(new RegExp(`^${name} serves v3 [0-9a-f]{8}, the content of v0\nundo: svc rollback v2 --scenario ${name}$`))
  })

  test('stays as it is when the answer is anything but yes', async () => {
    await promoted()
    for (const [answers, exit] of [[['n'], 1] as const, [['yellow'], 1] as const, [[], 2] as const])
      expect(await type(['rollback', 'v0', '--scenario', name], { answers })).toMatchObject({
        exit,
        out: '',
        err: [`nothing was changed; to do it without being asked: svc rollback v0 --scenario ${name} --yes`],
      })
    expect(await served(name)).toBe(2)
  })

  test('stays as it is when it was moved by another person while the question was open', async () => {
    await promoted()
    const screen = fakeSurroundings({}, { SVC_URL: here.address })
    const ask = async (): Promise<string> => {
      await type(['rollback', 'v0', '--scenario', name, '--yes'])
      return 'yes'
    }
    expect(await runCli(['rollback', 'v0', '--scenario', name], { ...screen, ask })).toBe(1)
    expect(screen.complaints).toEqual([`something else is served by now, and nothing was changed; look again: svc releases ${name}`])
    expect(await served(name)).toBe(3)
  })

  test('is not asked about with --yes, nor about what is served already', async () => {
    await promoted()
    expect(await type(['rollback', 'v2', '--scenario', name])).toMatchObject({
      exit: 0,
      asked: '',
      out: expect.stringMatching(/already$/),
    })
    expect(await type(['rollback', 'v0', '--scenario', name, '--yes'])).toMatchObject({ exit: 0, asked: '' })
    expect(await served(name)).toBe(3)
  })

  test('cannot be rolled back to what is held, and prints how to serve it; as JSON it names what is served and what was', async () => {
    expect(await type(['rollback', 'v1', '--scenario', name, '--yes'])).toMatchObject({
      exit: 1,
      err: [`v1 cannot be rolled back to: it is held for review and was never served; to serve it: svc promote v1 --scenario ${name}`],
    })
    const { out } = await type(['promote', 'v1', '--scenario', name, '--json'])
    expect(JSON.parse(out)).toMatchObject({
      scenario: name,
      step: 2,
      moved: true,
      previous_release_id: expect.stringMatching(/^[0-9a-f]{40}$/),
    })
  })
})

describe('a scenario with a provisional release', () => {
  let name = ''
  beforeAll(async () => {
    here = await world({ settings: { recipe: LEDGER_RECIPE, 'data.training_mode': 'manual' } })
  })
  beforeEach(async () => {
    const scenario = await fresh(here, 'auto')
    await scenario.consumer((await scenario.reported({ feedback: 'offer' }))[1])
    name = scenario.name
  })
  afterAll(() => here.close())
  const releases = async (): Promise<string> => (await type(['releases', name])).out
  const ending = (): string => `v1 is provisional, which is unproven; to end it: svc withdraw v1 --scenario ${name}`

  test('is told how to end it, and serves what it served to everyone once it is withdrawn', async () => {
    expect(await releases()).toContain(ending())
    const { exit, out } = await type(['withdraw', 'v1', '--scenario', name])
    expect([exit, out]).toEqual([0, expect.stringMatching(new RegExp(`^v1 is withdrawn; ${name} serves [0-9a-f]{8} to everyone$`))])
    expect(await served(name)).toBe(0)
    const after = await releases()
    expect(after).toContain('withdrawn')
    expect(after).not.toContain('is provisional')
    // An answer may be lost: typed again it says the same.
    expect(await type(['withdraw', 'v1', '--scenario', name])).toMatchObject({ exit: 0, out })
  })

  test('as JSON it names what is served and what was withdrawn', async () => {
    const { release_id: provisional } = await trainee(here, name).release()
    const { release_id: head } = await trainee(here, name).head()
    const { out } = await type(['withdraw', 'v1', '--scenario', name, '--json'])
    expect(JSON.parse(out)).toMatchObject({ scenario: name, release_id: head, withdrawn_release_id: provisional })
  })

  test('does not withdraw another release, and names the one that is meant', async () => {
    expect(await type(['withdraw', 'v0', '--scenario', name])).toMatchObject({
      exit: 1,
      out: '',
      err: [`v0 is not the provisional release; v1 is: svc withdraw v1 --scenario ${name}`],
    })
    await type(['withdraw', 'v1', '--scenario', name])
    expect(await type(['withdraw', 'v0', '--scenario', name])).toMatchObject({
      exit: 1,
      err: [`v0 is not the provisional release; there is none now: svc releases ${name}`],
    })
  })
})

describe('a command without a scenario', () => {
  beforeAll(async () => {
    here = await world({ settings: HOLDING })
    await here.exchange('other')
    await holding('support')
  })
  afterAll(() => here.close())

  test('means the one that holds a change; with several it must be named', async () => {
    const { exit, out } = await type(['promote'])
    expect(exit).toBe(0)
    expect(out).toMatch(/^support serves v2 [0-9a-f]{8}, the content of v1\nundo: svc rollback v0 --scenario support$/)
    expect(await served('support')).toBe(2)

    await trainee(here, 'support').ask('Be polite.')
    await trainee(here, 'support').row(3)
    await holding('other')
    expect(await type(['promote', 'v1'])).toMatchObject({
      exit: 2,
      err: ['which scenario? There are other, support: svc promote v1 --scenario other'],
    })
    expect((await type(['promote'])).err).toEqual(['which scenario? There are other, support: svc promote --scenario other'])
    expect(await type(['rollback', 'v0'])).toMatchObject({ exit: 2, err: [expect.stringContaining('svc rollback v0 --scenario other')] })
  })
})

describe('a scenario with a past', () => {
  let planted: Planted
  beforeAll(async () => {
    planted = await plantHistory()
    here = planted.here
  })
  afterAll(() => planted.close())

  test.each([
    [
      ['promote', 'v1'],
      'v1 is not held for review; v3 is: svc promote v3 --scenario planted; to serve it again: svc rollback v1 --scenario planted',
    ],
    [['rollback', 'v4', '--yes'], 'v4 cannot be rolled back to: it lived only in an engine; choose another: svc releases planted'],
    [['rollback', 'v2', '--yes'], 'that step made no release (rejected); see which did: svc releases planted'],
    [['promote', 'v9'], 'no release is called v9; see them: svc releases planted'],
  ])('refuses %j with the next command', async (args, line) => {
    expect(await type(args)).toMatchObject({ exit: 1, out: '', err: [line] })
  })

  test('prints commands that reach the same service', async () => {
    const { err } = await typeCommand('http://127.0.0.1:2', ['rollback', 'v0', '--url', here.address])
    expect(err).toEqual([
      `nothing was changed; to do it without being asked: svc rollback v0 --scenario planted --yes --url ${here.address}`,
    ])
  })

  test('moves by the beginning of an id, has nothing left to promote then, and says how to serve it again', async () => {
    expect((await type(['promote', planted.releases.held.release_id.slice(0, 10)])).out).toContain(`${PLANTED} serves v6 `)
    const { asked } = await type(['rollback', 'v0'], { answers: ['yes'] })
    expect(asked).toMatch(/content [0-9a-f]{8} becomes [0-9a-f]{8}/)
    expect(await served(PLANTED)).toBe(7)
    expect(await type(['promote', 'v3'])).toMatchObject({
      exit: 1,
      err: ['v3 was promoted as v6; nothing else waits for review; to serve it again: svc rollback v6 --scenario planted'],
    })
  })
})
