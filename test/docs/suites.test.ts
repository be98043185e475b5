/** The conformance suites find errors: each runs over plug-ins with exactly one fault. */
import { appendFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import {
  adapterConformance,
  contentsConformance,
  evaluatorConformance,
  executorConformance,
  gatewayConformance,
  proposerConformance,
  recipeConformance,
  selectionConformance,
  trainerConformance,
} from '../../conformance/index.ts'
import rulebook from '../../examples/adapter/rulebook.ts'
import folderContents from '../../examples/contents/folder.ts'
import folder from '../../examples/executor/folder.ts'
import byFetch from '../../examples/gateway/by-fetch.ts'
import oneRule from '../../examples/proposer/one-rule.ts'
import textCounter from '../../examples/recipe/text-counter.ts'
import moreWins from '../../examples/selection/more-wins.ts'
import type {
  Adapter,
  Binding,
  ConfigPatch,
  Content,
  ContentStore,
  Draft,
  Entry,
  Episode,
  Evaluator,
  Executor,
  Files,
  Gateway,
  Launch,
  ModelAddress,
  Play,
  Proposer,
  Recipe,
  Selection,
  StepResult,
  Surface,
  Task,
  Trainer,
  TrainerPlan,
  WholeAnswer,
} from '../../src/contract/index.ts'
import { temporaryFolder } from '../support/folder.ts'
import { expectFound } from './faults.ts'

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
    ['hooks of an unknown component', surfaced({ componentHooks: { other: {} } }), 'what it says of a component'],
    [
      'something newer each time',
      surfaced({ files: { read: async () => ({}), shipped: (content) => ({ content, entries: ['svc-requests'] }) } }),
      'what the service ships',
    ],
    ['a loader that fails', surfaced({ loader: { load: never } }), 'can be loaded'],
  ])('finds %s', async (_what, change, words) => {
    await expectFound(words, (runner) => recipeConformance({ ...runner, recipe: { ...sound, ...change } }))
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
    await expectFound(words, (runner) => trainerConformance({ ...runner, make: () => ({ step }), files: {}, isRepeatable: true }))
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
    const make = async (url: string): Promise<Gateway> => ({ relay: change(await byFetch.plugin.make({ url })) })
    await expectFound(words, (runner) => gatewayConformance({ ...runner, make }))
  })
})

describe('contentsConformance', () => {
  let count = 0

  it.each<readonly [string, (sound: ContentStore) => Partial<ContentStore>, string]>([
    ['another id each time', (sound) => ({ write: async (content) => `${await sound.write(content)}${(count += 1)}` }), 'equal files have'],
    ['an empty tree in place of none', () => ({ read: async () => ({}) }), 'a content that is not here is unknown'],
    ['paths that lead out', () => ({ write: async () => 'id' }), 'a path climbing out'],
    [
      'a folder that can be written in',
      (sound) => ({
        unpack: async (id) => {
          const path = await sound.unpack(id)
          await chmod(join(path, 'a/b'), 0o644)
          return path
        },
      }),
      'is read-only',
    ],
    ['a folder that is read as nothing', (sound) => ({ read: (id) => sound.read(id).then(shortOnes) }), 'reads as a few lines'],
    [
      'a release without a parent',
      (sound) => ({ seal: (id, _parent, mark) => sound.seal(id, null, mark) }),
      'carries its content and parent',
    ],
    [
      'a release with fractions of a second',
      (sound) => ({ seal: (id, parent, mark) => sound.seal(id, parent, { ...mark, at: mark.at * 1000 }) }),
      'with the same mark',
    ],
    ['a pointer at anything', () => ({ point: async () => undefined }), 'many points at once'],
    [
      'an archive that is overwritten',
      (sound) => ({ archive: (name, as) => sound.archive(name, as).catch(() => '') }),
      'never overwritten',
    ],
  ])('finds %s', async (_what, change, words) => {
    const make = async (): Promise<ContentStore> => {
      const sound = await folderContents.plugin.make({ repository: temporaryFolder() })
      return { ...membersOf(sound), ...change(sound) }
    }
    await expectFound(words, (runner) => contentsConformance({ ...runner, make }))
  })
})

describe('the suites of evolution', () => {
  const entries: readonly Entry[] = [{ id: 'rule-1', name: 'rules', config: { text: 'Be brief.' } }]
  const task: Task = { name: 't', prompt: 'p', role: 'gate', data: { answer: '42' } }
  const tree: readonly Entry[] = [
    { id: 'settings', name: 'config', config: { data: { theme: 'dark' } } },
    { id: 'brief', name: 'rules', config: { text: 'Be brief.' } },
    { id: 'counting', name: 'skill', config: { name: 'counting', text: 'Count aloud.' } },
  ]
  const install = { manager: 'npm', package: 'rulebook', version: '1.0.0', binary_path: 'bin/rulebook' } as const
  const SHIPPED: Entry = { id: 'svc-requests', name: 'rules', config: { text: 'x' } }
  const client = { env: {}, env_defaults: {}, state: [], tools: [] }
  let count = 0
  const good = { exitCode: 0, stdout: '42', stderr: '', trajectory: [] }

  it.each<readonly [string, (sound: Adapter) => Partial<Adapter>, string]>([
    ['a file that leads out', layout(() => ({ rules: '../RULES.md' })), 'config without a target'],
    ['two files under one path', layout(({ config }) => ({ rules: config['primary']?.path ?? '' })), 'config without a target'],
    ['no file for config', layout(() => ({ config: {} })), 'config without a target'],
    ['one file for all skills', layout(() => ({ named: { skill: 'SKILLS.md' } })), 'its name is in the path'],
    ['a kind that nothing proves', layout(({ named }) => ({ named: { ...named, agent_command: '{name}' } })), 'every kind that it renders'],
    ['other files each time', finish(() => ({ n: `${(count += 1)}` })), 'become the same files'],
    ['settings it was lent and changed', finish(changing), 'become the same files'],
    ['a file that no store keeps', finish(() => ({ '../out': '' })), 'entries become files'],
    ['no binding', () => ({ bindings: {} }), 'in one API at least'],
    ['a model that no file names', () => ({ bindings: { openai: () => [] } }), 'the files then name'],
    ['a key that stays', remembering, 'leaves nothing with the other'],
    ['a model that must have a name', () => ({ bindings: { openai: named } }), 'one without a name bound or refused'],
    ['a file that goes when a model comes', finish(({ binding }) => ({ [`${binding.length}`]: '' })), 'the files then name'],
    ['a prompt that is quoted', launch(({ prompt }) => ({ argv: [`sh -c "${prompt}"`] })), 'the prompt is handed over'],
    ['a prompt that a shell runs', launch(({ prompt }) => ({ argv: ['sh', '-c', prompt] })), 'the prompt is handed over'],
    [
      'words in another order',
      launch(({ prompt }) => ({ argv: ['agent', ...prompt.split(' ').toReversed()] })),
      'the prompt is handed over',
    ],
    ['a word that is lost', launch(({ prompt }) => ({ argv: ['agent', ...prompt.split(' ').slice(1)] })), 'the prompt is handed over'],
    ['a prompt as JSON', launch(({ prompt }) => ({ argv: ['agent', JSON.stringify(prompt)] })), 'the prompt is handed over'],
    ['no time at all', launch(() => ({ timeoutSeconds: 0 })), 'a task becomes a command'],
    ['a trajectory that must be there', () => ({ readTrajectory: never }), 'where no agent ran'],
    ['an install and no session', () => ({ install }), 'come together'],
    ['a version that a shell reads', () => ({ install: { ...install, version: '1;id' } }), 'no character that a shell reads'],
    ['a program outside its prefix', () => ({ install: { ...install, binary_path: '../bin/x' } }), 'no character that a shell reads'],
    ['a git install from nowhere', () => ({ install: { ...install, manager: 'git' } }), 'an install from git'],
    ['state outside the tree', () => ({ client: { ...client, state: ['../home/'] } }), 'named as shells and stores'],
    ['a key that stands bare', () => ({ install, client, ...finish(bare)() }), 'inside quoted strings'],
    [
      'an id that is not its own',
      () => ({ shipped: { requests: [{ id: 'mine', name: 'rules', config: { text: 'x' } }] } }),
      'ids of theirs alone',
    ],
    ['an id that it ships twice', () => ({ shipped: { version_check: [SHIPPED], requests: [SHIPPED] } }), 'ids of theirs alone'],
  ])('find an adapter with %s', async (_what, change, words) => {
    const sound = rulebook.plugin
    await expectFound(words, (runner) => adapterConformance({ ...runner, adapter: { ...sound, ...change(sound) }, entries: tree }))
  })

  it.each<readonly [string, (sound: Executor) => Executor['run'], string]>([
    ['files that are left out', playing(() => ({ files: () => ({}) })), 'the files are there'],
    ['a workspace that is empty', playing(() => ({ workspace: {} })), 'the files are there'],
    ['its own environment', playing(withOwnEnvironment), 'of the service'],
    ['a failure that is thrown', (sound) => async (play, signal) => succeeded(await sound.run(play, signal)), 'cannot be started'],
    ['a command for another folder', playing((play) => ({ launch: () => play.launch('/') })), 'whose workspace it starts in'],
    ['a trajectory that was not read', playing(() => ({ readTrajectory: async () => [] })), 'is read after the command'],
    ['a workspace that was not inspected', playing(() => ({ inspect: async () => undefined })), 'is read after the command'],
    [
      'a model that is not asked',
      playing((play) => ({ files: () => play.files({ ...play.model, apiKey: 'another' }) })),
      'it answers there',
    ],
    [
      'no reason why it ended',
      (sound) => async (play, signal) => {
        const { ended: _ended, ...episode } = await sound.run(play, signal)
        return episode
      },
      'longer than it may',
    ],
    [
      'a program that goes on',
      (sound) => async (play, signal) => {
        const beats = await mkdtemp(join(tmpdir(), 'beats-'))
        const timer = setInterval(() => appendFileSync(join(beats, 'beats'), 'x'))
        try {
          return await sound.run({ ...play, inspect: async (_workspace, episode) => play.inspect?.(beats, episode) }, signal)
        } finally {
          clearInterval(timer)
          await rm(beats, { recursive: true })
        }
      },
      'is dead before its workspace is read',
    ],
    [
      'a log that is not there any more',
      (sound) => async (play, signal) => ({ ...(await sound.run(play, signal)), trajectory: await play.readTrajectory('/nowhere') }),
      'is read after the command',
    ],
  ])('find an executor with %s', async (_what, change, words) => {
    const make = async (): Promise<Executor> => ({ run: change(await folder.plugin.make({})) })
    await expectFound(words, (runner) => executorConformance({ ...runner, make }))
  })

  it.each<readonly [string, Evaluator['score'], string]>([
    ['no number', async () => Number.NaN, 'gets a number'],
    ['nothing to say', async () => null, 'gets a number'],
    ['the same score for all', async () => 1, 'scores above'],
    ['a point for what never began', async (_task, { ended, stdout }) => Number(ended === 'start' || stdout === '42'), 'scores above'],
    ['trust in its task', async ({ data }) => (data === undefined ? never() : 1), 'a task of another shape'],
    ['an end that never comes', () => new Promise(() => undefined), 'after an abort'],
  ])('find an evaluator with %s', async (_what, score, words) => {
    const suite = { evaluator: { score }, task, good, bad: { ...good, stdout: '41' } }
    await expectFound(words, (runner) => evaluatorConformance({ ...runner, ...suite }))
  })

  it.each<readonly [string, Partial<Selection>, string]>([
    ['yes to everything', { decide: () => ({ selected: true, reason: 'why not' }) }, 'nothing speaks for'],
    ['no to everything', { decide: () => ({ selected: false, reason: 'why' }) }, 'better at every task'],
    ['no reason', { decide: (...asked) => ({ ...moreWins.plugin.decide(...asked), reason: '' }) }, 'worse at every task'],
    ['a task of its own', { next: () => [{ task: 'absent', repeat: 0 }] }, 'tasks that are there'],
    ['no end', { next: ({ pairs }) => [{ task: 'task-0', repeat: pairs.length }] }, 'comes to an end'],
    ['the same again', { next: ({ pairs }) => (pairs.length < 2 ? [{ task: 'task-0', repeat: 0 }] : []) }, 'comes to an end'],
  ])('find a selection with %s', async (_what, change, words) => {
    const selection = { ...moreWins.plugin, ...change }
    await expectFound(words, (runner) => selectionConformance({ ...runner, selection }))
  })

  it.each<readonly [string, Partial<Proposer>, string]>([
    [
      'a change of what is not there',
      { propose: async () => ({ mutations: [{ op: 'remove', id: 'absent' }] }) },
      'request and samples: it',
    ],
    [
      'the id of another entry',
      { propose: async () => ({ mutations: [{ op: 'create', id: 'rule-1', options: { name: 'rules', config: { text: 'x' } } }] }) },
      'request and samples: it',
    ],
    ['no change and no reason', { propose: async () => ({ mutations: [] }) }, 'nothing to learn from'],
    ['a brief that it writes in', { propose: async ({ memory }) => (Object.assign(memory, { mine: 1 }), null) }, 'the brief is afterwards'],
    ['an end that never comes', { propose: () => new Promise(() => undefined) }, 'after an abort'],
  ])('find a proposer with %s', async (_what, change, words) => {
    const proposer = { ...oneRule.plugin, ...change }
    await expectFound(words, (runner) => proposerConformance({ ...runner, proposer, adapter: rulebook.plugin, entries }))
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

/** A class keeps its methods where a copy does not find them. */
function membersOf(store: ContentStore): ContentStore {
  return {
    write: (content) => store.write(content),
    read: (id) => store.read(id),
    unpack: (id) => store.unpack(id),
    seal: (id, parent, mark) => store.seal(id, parent, mark),
    find: (id) => store.find(id),
    point: (scenario, release) => store.point(scenario, release),
    hold: (release) => store.hold(release),
    archive: (scenario, as) => store.archive(scenario, as),
    close: () => store.close(),
  }
}

/** Without what stands for a large file. */
const shortOnes = (files: Files): Files => Object.fromEntries(Object.entries(files).filter(([, text]) => !text.startsWith('version ')))

const layout =
  (change: (sound: Adapter['layout']) => Partial<Adapter['layout']>) =>
  (sound: Adapter): Partial<Adapter> => ({ layout: { ...sound.layout, ...change(sound.layout) } })

const finish = (last: (draft: Draft) => Files) => (): Partial<Adapter> => ({ finish: last })

const launch =
  (change: (task: { readonly prompt: string }) => Partial<Launch>) =>
  (sound: Adapter): Partial<Adapter> => ({ launch: (task, root) => ({ ...sound.launch(task, root), ...change(task) }) })

const playing =
  (change: (play: Play) => Partial<Play>) =>
  (sound: Executor): Executor['run'] =>
  (play, signal) =>
    sound.run({ ...play, ...change(play) }, signal)

function changing({ config }: Draft): Files {
  Object.assign(config['primary'] ?? {}, { changed: true })
  return { 'settings.json': JSON.stringify(config) }
}

function remembering(): Partial<Adapter> {
  const all: string[] = []
  return { bindings: { openai: (model) => (all.push(JSON.stringify(model)), [{ target: 'model', data: { all: [...all] } }]) } }
}

const succeeded = (episode: Episode): Episode => (episode.exitCode === 0 ? episode : never())

const named = ({ url, model }: ModelAddress): readonly ConfigPatch[] => [
  { target: 'model', data: { url, model: model?.toUpperCase() ?? never() } },
]

const bare = ({ config }: Draft): Files => ({ 'model.env': `KEY=${JSON.stringify(config['model']?.['api_key']).slice(1, -1)}` })

const withOwnEnvironment = (play: Play): Partial<Play> => ({
  launch: (root) => {
    const made = play.launch(root)
    const own = Object.fromEntries(Object.entries(process.env).map(([name, value = '']) => [name, value]))
    return { ...made, env: { ...own, ...made.env } }
  },
})
