/** The suites that docs/extend names find what is wrong: each is run over plug-ins that are sound but for one thing. */
import { describe, expect, it } from 'vitest'
import {
  adapterConformance,
  evaluatorConformance,
  executorConformance,
  gatewayConformance,
  proposerConformance,
  recipeConformance,
  selectionConformance,
  trainerConformance,
} from '../../conformance/index.ts'
import rulebook from '../../examples/adapter/rulebook.ts'
import lastLine from '../../examples/evaluator/last-line.ts'
import folder from '../../examples/executor/folder.ts'
import oneRule from '../../examples/proposer/one-rule.ts'
import textCounter from '../../examples/recipe/text-counter.ts'
import moreWins from '../../examples/selection/more-wins.ts'
import relay from '../../plugins/gateways/relay/index.ts'
import type {
  Adapter,
  Binding,
  Content,
  Entry,
  Episode,
  Evaluator,
  Executor,
  Gateway,
  Proposer,
  Recipe,
  Selection,
  StepResult,
  Surface,
  Trainer,
  TrainerPlan,
  WholeAnswer,
} from '../../src/contract/index.ts'

interface Runner {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
}

/** The one sentence of a suite that has these words in it. */
function sentence(words: string, run: (runner: Runner) => void): () => Promise<void> {
  const found: (() => Promise<void>)[] = []
  run({ describe: (_name, body) => body(), it: (name, body) => void (name.includes(words) && found.push(body)) })
  const [body] = found
  if (body === undefined || found.length > 1) throw new Error(`${found.length} sentences say: ${words}`)
  return body
}

function never(): never {
  throw new Error('this one always fails')
}

describe('recipeConformance', () => {
  const sound = textCounter.plugin
  const bound = (change: (binding: Binding) => Partial<Binding>): Partial<Recipe> => ({
    bind: async (scope) => {
      const binding = await sound.bind(scope)
      return { ...binding, ...change(binding) }
    },
  })
  const surfaced = (surface: Surface): Partial<Recipe> => bound(() => ({ surface }))
  const shared = sound.bind({
    scenario: '',
    config: {},
    runtime: { infer: never, models: never, status: async () => ({}), close: async () => undefined },
    evaluation: { url: '', model: null, api: 'openai', apiKey: null },
    directory: '',
    read: async () => ({}),
  })
  const plan: TrainerPlan = { lane: 'thread', open: () => ({ step: never }) }
  let count = 0

  it.each<readonly [string, Partial<Recipe>, string]>([
    ['a seed that leads outside', { seed: { '../x': '' } }, 'its seed is a content'],
    ['a seed in a git folder', { seed: { 'a/.GIT/hooks': '' } }, 'its seed is a content'],
    ['a seed of which one file lies in another', { seed: { a: '', 'a/b': '' } }, 'its seed is a content'],
    ['a seed of half a character', { seed: { a: '\ud800' } }, 'its seed is a content'],
    ['no processor', bound(() => ({ processors: {} })), 'one for each trainer'],
    ['a processor without a mode', bound(modeless), 'a mode that all'],
    ['one processor for all', { bind: () => shared }, 'what one binding collects'],
    ['other trainers each time', { trainers: () => ({ [`t${(count += 1)}`]: plan }) }, 'the same each time, before'],
    ['a trainer in no lane', { trainers: () => ({ '': { ...plan, lane: JSON.parse('"nowhere"') } }) }, 'each has a lane'],
    ['a trainer named after two folders', { trainers: () => ({ 'a/b': plan }) }, 'named after its folder'],
    ['a seed beside its components', { trainers: () => ({ a: plan }) }, 'where its trainers have names'],
    [
      'a report check that throws',
      { checkReport: ({ metadata }) => (metadata === null ? never() : null) },
      'a report is let in or refused',
    ],
    ['a report refused without a word', { checkReport: () => '' }, 'a report is let in or refused'],
    [
      'a hook that changes the body',
      surfaced({ hooks: { prepare: (_release, _dialect, body) => Object.assign(body, { changed: true }) } }),
      'a body is prepared or refused',
    ],
    [
      'a hook that trusts the body',
      surfaced({ hooks: { prepare: (_release, _dialect, body) => (Array.isArray(body['messages']) ? body : never()) } }),
      'a body is prepared or refused',
    ],
    ['a hook that counts', surfaced({ hooks: { prepare: () => ({ n: (count += 1) }) } }), 'the same body'],
    ['hooks of nobody', surfaced({ componentHooks: { other: {} } }), 'what it says of a component'],
    ['a loader that fails', surfaced({ loader: { load: never } }), 'can be loaded'],
  ])('finds %s', async (_what, change, words) => {
    await expect(sentence(words, (runner) => recipeConformance({ ...runner, recipe: { ...sound, ...change } }))()).rejects.toThrow()
  })
})

describe('trainerConformance', () => {
  const KEPT = 'samples alone'
  let count = 0

  it.each<readonly [string, Trainer['step'], string]>([
    ['no verdict', async () => JSON.parse('{"kind":"maybe"}'), KEPT],
    ['metrics that are no JSON', async () => ({ kind: 'reject', metrics: { rate: Number.NaN } }), KEPT],
    ['files that cannot be kept', async () => publish({ kind: 'files', files: { '/etc/passwd': 'x' } }), KEPT],
    ['a failure on samples', async ({ batch }) => (batch.samples.length > 0 ? never() : { kind: 'reject' }), KEPT],
    ['another answer each time', async () => ({ kind: 'skip', reason: `${(count += 1)}` }), 'the same order again'],
    ['a changed order', async ({ state }) => ({ kind: 'reject', state: Object.assign(state, { n: 1 }) }), 'an order is afterwards'],
    [
      'a step that goes on after an abort',
      (_order, _report, signal) => (signal.aborted ? new Promise(() => undefined) : Promise.resolve({ kind: 'reject' })),
      'before it began',
    ],
  ])('finds %s', async (_what, step, words) => {
    await expect(
      sentence(words, (runner) => trainerConformance({ ...runner, make: () => ({ step }), files: {}, isRepeatable: true }))(),
    ).rejects.toThrow()
  })
})

describe('gatewayConformance', () => {
  it.each<readonly [string, (sound: Gateway) => Gateway['relay'], string]>([
    [
      'a body that is printed anew',
      (sound) => (route, body, signal) => sound.relay(route, Buffer.from(JSON.stringify(JSON.parse(String(body)))), signal),
      'goes out as it came',
    ],
    [
      'bytes that are read as text',
      (sound) =>
        async (...call) =>
          reread(await sound.relay(...call)),
      'bytes come back',
    ],
    [
      'an error that is no refusal',
      (sound) =>
        (...call) =>
          sound.relay(...call).catch(never),
      'hangs up',
    ],
    [
      'a call that is not given up',
      (sound) => (route, body) => sound.relay(route, body, new AbortController().signal),
      'aborted before its answer',
    ],
  ])('finds %s', async (_what, change, words) => {
    const make = async (url: string): Promise<Gateway> => ({ relay: change(await relay.plugin.make({ url })) })
    await expect(sentence(words, (runner) => gatewayConformance({ ...runner, make }))()).rejects.toThrow()
  })
})

describe('the suites of evolution', () => {
  const entries: readonly Entry[] = [{ id: 'rule-1', name: 'rule', config: { text: 'Be brief.' } }]
  const task = { name: 't', prompt: 'p', data: { answer: '42' } }
  const succeeded = (episode: Episode): Episode => (episode.exitCode === 0 ? episode : never())
  const good = { exitCode: 0, stdout: '42', stderr: '', trajectory: [] }

  it.each<readonly [string, Partial<Adapter>, string]>([
    ['a disabled entry in force', { render: (all) => ({ n: String(all.length) }) }, 'a disabled entry'],
    ['an id that became a path', { render: ([first]) => ({ [`../${first?.id}`]: '' }) }, 'entries become files'],
    ['a model that no file names', { bindModel: (files) => files }, 'the files then name the model'],
    ['a key that stays', { bindModel: (files, { url, apiKey }) => ({ ...files, [`${apiKey ?? ''}.url`]: url }) }, 'binding another model'],
    [
      'a prompt that is quoted',
      { launch: ({ prompt }) => ({ argv: [`sh -c "${prompt}"`], env: {}, timeoutSeconds: 1 }) },
      'the prompt is handed over',
    ],
    ['a trajectory that must be there', { readTrajectory: never }, 'where no agent ran'],
  ])('find an adapter with %s', async (_what, change, words) => {
    await expect(
      sentence(words, (runner) => adapterConformance({ ...runner, adapter: { ...rulebook.plugin, ...change }, entries }))(),
    ).rejects.toThrow()
  })

  it.each<readonly [string, (sound: Executor) => Executor['run'], string]>([
    ['files that are left out', (sound) => (launch, _files, signal) => sound.run(launch, {}, signal), 'the files are there'],
    [
      'its own environment',
      (sound) =>
        (launch, ...rest) =>
          sound.run({ ...launch, env: { ...ownEnvironment(), ...launch.env } }, ...rest),
      'the environment of the service',
    ],
    [
      'a failure that is thrown',
      (sound) =>
        async (...call) =>
          succeeded(await sound.run(...call)),
      'cannot be started',
    ],
  ])('find an executor with %s', async (_what, change, words) => {
    const make = async (): Promise<Executor> => ({ run: change(await folder.plugin.make({})) })
    await expect(sentence(words, (runner) => executorConformance({ ...runner, make }))()).rejects.toThrow()
  })

  it.each<readonly [string, Evaluator['score'], string]>([
    ['no number', async () => Number.NaN, 'gets a number'],
    ['the same score for all', async () => 1, 'scores above'],
    ['trust in its task', async ({ data }) => (data === undefined ? never() : 1), 'a task of another shape'],
  ])('find an evaluator with %s', async (_what, score, words) => {
    const suite = { evaluator: { ...lastLine.plugin, score }, task, good, bad: { ...good, stdout: '41' } }
    await expect(sentence(words, (runner) => evaluatorConformance({ ...runner, ...suite }))()).rejects.toThrow()
  })

  it.each<readonly [string, Selection['decide'], string]>([
    ['yes to everything', () => ({ selected: true, reason: 'why not' }), 'nothing speaks for'],
    ['no to everything', () => ({ selected: false, reason: 'why' }), 'better at every task'],
    ['no reason', (pairs) => ({ ...moreWins.plugin.decide(pairs), reason: '' }), 'worse at every task'],
  ])('find a selection with %s', async (_what, decide, words) => {
    await expect(sentence(words, (runner) => selectionConformance({ ...runner, selection: { decide } }))()).rejects.toThrow()
  })

  it.each<readonly [string, Partial<Proposer>, string]>([
    [
      'a change of what is not there',
      { propose: async () => ({ mutations: [{ op: 'remove', id: 'nobody' }] }) },
      'request and samples: it',
    ],
    [
      'the id of another entry',
      { propose: async () => ({ mutations: [{ op: 'create', id: 'rule-1', options: { name: 'rule', config: {} } }] }) },
      'request and samples: it',
    ],
    ['an end that never comes', { propose: () => new Promise(() => undefined) }, 'after an abort'],
  ])('find a proposer with %s', async (_what, change, words) => {
    const proposer = { ...oneRule.plugin, ...change }
    await expect(sentence(words, (runner) => proposerConformance({ ...runner, proposer, entries }))()).rejects.toThrow()
  })
})

function modeless({ processors }: Binding): Partial<Binding> {
  return { processors: Object.fromEntries(Object.entries(processors).map(([name, processor]) => [name, { ...processor, modes: [] }])) }
}

function publish(content: Content): StepResult {
  return { kind: 'publish', content }
}

function reread(answer: WholeAnswer): WholeAnswer {
  return { ...answer, body: Buffer.from(Buffer.from(answer.body).toString()) }
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).map(([name, value = '']) => [name, value]))
}
