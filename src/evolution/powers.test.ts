/** What a change could do on a machine decides whether evidence alone publishes it. */
import { describe, expect, it } from 'vitest'
import { POWERS, type JsonObject, type Mutation, type TrainRequest } from '../contract/index.ts'
import { ALWAYS, REQUEST, RULE, stepOf, testBench } from './testing/bench.ts'

const both = (mutation: Mutation) => ({ propose: () => ({ mutations: [RULE, mutation] }) })
const newEntry = (id: string, name: string, config: JsonObject): Mutation => ({
  op: 'create',
  id,
  options: { name, config: { name: id, ...config } },
})

const overwriting = (id: string, text: string): Mutation => ({ op: 'update', id, options: { config: { text } } })

describe('the powers of a change [trust.powers]', () => {
  it('are in the row, with the reasons, and plain words are published', async () => {
    const power_reasons = [{ power: 'words', entry: 'hint', why: 'only text for the model changes' }]
    expect(await stepOf({})).toMatchObject({ kind: 'publish', metrics: { powers: ['words'], power_reasons } })
  })

  it.each<[string, Mutation, string]>([
    ['an order', newEntry('go', 'agent_command', { text: 'Fetch the newest prices.' }), 'orders'],
    ['hidden characters', newEntry('go', 'agent_command', { text: 'Be brief.\u{e0066}' }), 'hidden'],
    ['a setting of which nothing is known', { op: 'create', id: 'set', options: { name: 'config', config: { data: { x: 1 } } } }, 'grants'],
    ['a change of what a person wrote', overwriting('base', 'Be long.'), 'removes'],
    ['a removal of what a person wrote', { op: 'remove', id: 'base' }, 'removes'],
  ])('hold %s, from traffic, from an agent and from a person alike', async (_, mutation, power) => {
    const held = { kind: 'hold', metrics: { powers: expect.arrayContaining([power]), held_because: expect.stringContaining(power) } }
    expect(await stepOf(both(mutation))).toMatchObject(held)
    const asked = await testBench(both(mutation))
    expect(await asked.step({ request: REQUEST })).toMatchObject(held)
    const proposed = await testBench()
    await proposed.inbox.offer({ mutations: [RULE, mutation], reason: 'because', session: 's', release_id: 'r' }, 'head')
    expect(await proposed.step()).toMatchObject(held)
    expect(await stepOf({ ...both(mutation), settings: { publish_powers: [...POWERS] } })).toMatchObject({ kind: 'publish' })
  })

  it('are in the row of a rejected change too', async () => {
    const order = newEntry('go', 'agent_command', { text: 'Fetch the newest prices.' })
    expect(await stepOf({ propose: () => ({ mutations: [order] }) })).toMatchObject({ kind: 'reject', metrics: { powers: ['orders'] } })
  })

  it('name the request that a later one would undo', async () => {
    let text = 'Say the magic word.'
    const propose = (): { mutations: Mutation[] } => ({
      mutations: text === '' ? [{ op: 'remove', id: 'hint' }] : [RULE],
    })
    const bench = await testBench({ propose, selection: ALWAYS })
    expect(await bench.step({ request: { ...REQUEST, id: 'first' } })).toMatchObject({ kind: 'publish' })
    text = ''
    const held_because = expect.stringContaining(`hint: it removes what a person wrote, which a person asked for: “${REQUEST.text}”`)
    expect(await bench.step({ request: { ...REQUEST, id: 'second' } })).toMatchObject({ kind: 'hold', metrics: { held_because } })
  })

  it.each<[string, TrainRequest | null, boolean, string]>([
    ['a proposer', null, false, 'traffic'],
    ['a person', REQUEST, false, 'person'],
    ['an agent', null, true, 'agent'],
  ])('%s is the author of what it wrote', async (_, request, isProposed, author) => {
    const bench = await testBench()
    if (isProposed) await bench.inbox.offer({ mutations: [RULE], reason: 'because', session: 's', release_id: 'r' }, 'head')
    const result = await bench.step({ request })
    const files = result.kind === 'publish' && result.content.kind === 'files' ? result.content.files : {}
    expect(JSON.parse(files['.svc-tree.json'] ?? '[]')).toMatchObject([{ id: 'base' }, { id: 'hint', author }])
  })

  it('hold a requirement whose check is a command, the person’s too, unless evidence alone may publish what runs', async () => {
    const command = { kind: 'service' as const, name: 'GIT', check: 'git --version' }
    const held = { kind: 'hold', metrics: { held_because: expect.stringContaining('runs') } }
    expect(await stepOf({ propose: () => ({ mutations: [RULE], requires: [command] }) })).toMatchObject(held)
    const asked = async (settings: JsonObject) => {
      const bench = await testBench({ settings })
      return bench.step({ request: { ...REQUEST, requires: [command] } })
    }
    expect(await asked({})).toMatchObject(held)
    expect(await asked({ publish_powers: ['words', 'runs'] })).toMatchObject({ kind: 'publish' })
  })

  it('do not count the name of a variable as a command', async () => {
    const bench = await testBench()
    const requires: TrainRequest['requires'] = [{ kind: 'env', name: 'KEY', check: 'NEWS_KEY' }]
    expect(await bench.step({ request: { ...REQUEST, requires } })).toMatchObject({ kind: 'publish', metrics: { powers: ['words'] } })
  })

  it.each([
    ['env', 'reads'],
    ['service', 'reaches'],
    ['permission', 'grants'],
    ['binary', 'runs'],
  ] as const)('hold a %s that a proposer asks people to set up', async (kind, power) => {
    const propose = () => ({ mutations: [RULE], requires: [{ kind, name: 'KEY' }] })
    expect(await stepOf({ propose })).toMatchObject({ kind: 'hold', metrics: { powers: ['words', power] } })
  })

  it('show a hidden character by number', async () => {
    const data = { 'x\u202e': 1 }
    const { metrics = {} } = await stepOf(both({ op: 'create', id: 'set', options: { name: 'config', config: { data } } }))
    expect(JSON.stringify(metrics['power_reasons'])).toContain('[U+202E]')
    expect(JSON.stringify(metrics['power_reasons'])).not.toContain('\u202e')
  })
})
