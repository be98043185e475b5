/** A service with a history: a harness with every outcome of a step, and traffic in every format. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { POWERS, type JsonObject } from '../../../src/contract/index.ts'
import { bearer, named, textAt } from '../../spec/support/helpers.ts'
import { trainee, type Trainee } from '../../spec/support/trainee.ts'
import { answerPlainly } from '../../support/upstream.ts'
import { world, type World } from '../../support/world.ts'
import { GATE_FILE, PLAYS, PROPOSED, QUEUED_WORDS, SEED, TASKS } from './script.ts'
import { sendConversations } from './traffic.ts'

export const SHOP = 'shop'
export const HELPDESK = 'helpdesk'

/** The versions that the history below makes. */
export const PLACES = {
  created: 0,
  published: 1,
  learned: 2,
  rejected: 3,
  useless: 4,
  promoted: 5,
  skipped: 6,
  failed: 7,
  promotion: 8,
  pending: 9,
  proposed: 10,
  rollback: 11,
} as const

export interface BrowserWorld {
  /** Sends the token, if there is one. */
  readonly here: World
  readonly shop: Trainee
  /** The ids of the conversations of the helpdesk. */
  readonly conversations: readonly string[]
  /** The first is in a waiting step; the second is queued until the gate opens. */
  readonly waiting: string
  readonly queued: string
  /** The page of a request, as the service gave its address. */
  readonly pages: ReadonlyMap<string, string>
  openGate(): Promise<void>
}

export async function openBrowserWorld(token: string | null = null, more: WorldSettings = {}): Promise<BrowserWorld> {
  const here = await openShop(token, more)
  const shop = trainee(here, SHOP)
  const pages = new Map<string, string>()
  const ask = async (words: string): Promise<string> => {
    const release_id = textAt(await shop.head(), 'release_id')
    const { json } = await here.post('/svc/train', { text: words, session: 'a-session-at-the-counter', release_id }, named(SHOP))
    const id = textAt(json, 'agent_record_id')
    pages.set(id, textAt(json, 'page_path'))
    return id
  }
  await playHistory(here, shop, ask)
  const conversations = await playTraffic(here)
  const waiting = await ask(PLAYS.waiting.words)
  await shop.reached(waiting, 'proposing')
  const queued = await ask(QUEUED_WORDS)
  const openGate = (): Promise<void> => writeFile(join(here.directory, 'steps', GATE_FILE), '')
  return { here, shop, conversations, waiting, queued, pages, openGate }
}

type WorldSettings = Parameters<World['restart']>[0]

/** The service without history. */
export async function openShop(token: string | null, more: WorldSettings = {}): Promise<World> {
  const here = await world({ backend: 'sqlite', headers: token === null ? {} : bearer(token) })
  await mkdir(join(here.directory, 'steps'))
  const fixtures = join(import.meta.dirname, '..', 'fixtures')
  await here.restart({
    ...(token !== null && { 'svc.token': token }),
    recipe: 'harness',
    'inference.upstream_model': 'shop-large',
    'data.training_mode': 'hybrid',
    'evolution.adapter': 'pi',
    'evolution.binary': process.execPath,
    'evolution.executor': join(fixtures, 'reciting-executor.ts'),
    'evolution.proposer': join(fixtures, 'scripted-proposer.ts'),
    'evolution.evaluator': 'answer',
    'evolution.margin': 0.3,
    'evolution.seed': JSON.stringify(SEED),
    'evolution.tasks': JSON.stringify(TASKS),
    'evolution.review_kinds': '[skill, code_extension]',
    'evolution.publish_powers': JSON.stringify(POWERS),
    'evolution.proposals_dir': join(here.directory, 'proposals'),
    'evolution.step_record_dir': join(here.directory, 'steps'),
    ...more,
  })
  return here
}

/** One row per outcome. */
async function playHistory(here: World, shop: Trainee, ask: (words: string) => Promise<string>): Promise<void> {
  await here.post('/svc/scenarios', { name: SHOP })
  const settled = async (words: string): Promise<JsonObject> => {
    await shop.consumer(await ask(words))
    return shop.release()
  }
  const reported = async (feedback: string): Promise<void> => {
    const [, report] = await shop.reported({ score: 0, feedback })
    await shop.consumer(report)
  }
  const published = await settled(PLAYS.published.words)
  await reported(PLAYS.learned.words)
  await settled(PLAYS.rejected.words)
  await reported(PLAYS.useless.words)
  const held = await settled(PLAYS.promoted.words)
  await settled(PLAYS.skipped.words)
  await settled(PLAYS.failed.words)
  await shop.move('promote', textAt(held, 'release_id'))
  await settled(PLAYS.pending.words)
  const release_id = textAt(await shop.head(), 'release_id')
  const reason = 'People wait a long time in the evening.'
  await here.post('/svc/harness/proposals', { mutations: PROPOSED, reason, session: 'night-shift', release_id }, named(SHOP))
  await reported('The queue was long.')
  await shop.move('rollback', textAt(published, 'release_id'))
}

/** In a separate scenario in manual mode, so that its reports start no step. */
async function playTraffic(here: World): Promise<readonly string[]> {
  await here.post('/svc/scenarios', { name: HELPDESK })
  const helpdesk = trainee(here, HELPDESK)
  await helpdesk.useMode('manual')
  const ids = await sendConversations(here, HELPDESK)
  const [first = '', second = ''] = ids
  here.upstream.answer(answerPlainly)
  await helpdesk.report({ references: [first], score: 1, feedback: 'Looked the parcel up.' })
  await helpdesk.report({ references: [second, first], score: 0.25, feedback: { tone: 'dry', facts: 'right' } })
  return ids
}
