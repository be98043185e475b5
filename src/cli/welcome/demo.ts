/**
 * The demo scenario `practice`: an agent answers wrongly, reports it, and answers again with the rules learnt from the report. An interrupted
 * demo continues after a restart: each report has an id of its own and is stored once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { HEADER, RELEASE_TAG, ROUTE_PREFIX, type JsonObject } from '../../contract/index.ts'
import { objectOf, objectsOf, textOf } from '../../dialects/index.ts'
import { call, type ServiceAddress } from '../../improve/index.ts'

const PRACTICE = 'practice'

/** Questions and right answers. None of them is a task that changes are measured by. */
export const QUESTIONS: readonly (readonly [question: string, answer: string])[] = [
  ['Write 1400 as a Roman numeral.', 'MCD'],
  ['Write 1559 as a Roman numeral.', 'MDLIX'],
  ['Write 1714 as a Roman numeral.', 'MDCCXIV'],
]

/** The model that writes changes may be wrong: everything is asked and reported twice at most. */
const ROUNDS = 2
const FEEDBACK = 'The numeral is wrong.'
const LOOK_AGAIN_MILLISECONDS = 500
const RULES = 'native/AGENTS.md'

const AT = `${ROUTE_PREFIX}/scenarios/${PRACTICE}`
const SCENARIO = { [HEADER.scenario]: PRACTICE }

/** Whether the demo is still ahead or done, or the scenario is used for something else. */
export type DemoState = 'ahead' | 'learnt' | 'none'

export async function demoStateOf(service: ServiceAddress): Promise<DemoState> {
  if (!(await isOurs(service))) return 'none'
  return (await published(service)) === null ? 'ahead' : 'learnt'
}

/** Null when there is nothing to do. The release is the improved one; null when no tried change was better. */
export async function runDemo(service: ServiceAddress) {
  if ((await demoStateOf(service)) !== 'ahead') return null
  const before = await askAll(service)
  const release = await learn(service, before)
  const after = release === null ? before : await askAll(service)
  return { asked: QUESTIONS.length, rightBefore: rightOf(before), rightAfter: rightOf(after), release }
}

/** A scenario of that name with another recipe is left alone. */
async function isOurs(service: ServiceAddress): Promise<boolean> {
  const body = { name: PRACTICE, recipe: PRACTICE }
  const { refused } = await call(service, `${ROUTE_PREFIX}/scenarios`, { body, expected: ['other_recipe'] })
  return refused === ''
}

async function published(service: ServiceAddress): Promise<JsonObject | null> {
  const { body } = await call(service, `${AT}/releases`)
  return objectsOf(body['releases']).find(({ operation, result }) => operation === 'train' && result === 'published') ?? null
}

interface Exchange {
  readonly receipt: string
  readonly isRight: boolean
}

/** Like an agent: with the rules served now, tagged with their release. */
async function askAll(service: ServiceAddress): Promise<readonly Exchange[]> {
  const { body: manifest } = await call(service, `${ROUTE_PREFIX}/harness`, { headers: SCENARIO })
  const rules = textOf(objectOf(manifest['files'])[RULES])
  const headers = { ...SCENARIO, [`${HEADER.tagPrefix}${RELEASE_TAG}`]: textOf(manifest['release_id']) }
  const exchanges: Exchange[] = []
  for (const [content, right] of QUESTIONS) {
    const messages = [
      { role: 'system', content: rules },
      { role: 'user', content },
    ]
    const { receipt, body } = await call(service, '/v1/chat/completions', { headers, body: { model: PRACTICE, messages } })
    exchanges.push({ receipt, isRight: lastLine(body) === right })
  }
  return exchanges
}

function lastLine(completion: JsonObject): string {
  const [choice = {}] = objectsOf(completion['choices'])
  const said = textOf(objectOf(choice['message'])['content'])
  return said.trim().split('\n').at(-1)?.trim() ?? ''
}

const rightOf = (exchanges: readonly Exchange[]): number => exchanges.filter(({ isRight }) => isRight).length

/** One report at a time, until one leads to an improvement. */
async function learn(service: ServiceAddress, first: readonly Exchange[]): Promise<JsonObject | null> {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const exchanges = round === 1 ? first : await askAll(service)
    for (const [index, { receipt, isRight }] of exchanges.entries()) {
      if (isRight) continue
      const id = `welcome-${round}-${index + 1}`
      const body = { agent_record_id: id, score: 0, feedback: FEEDBACK, references: [receipt] }
      // A conflict means that an earlier run reported it and may still have to settle it.
      await call(service, `${ROUTE_PREFIX}/report`, { headers: SCENARIO, body, expected: ['record_conflict'] })
      await settled(service, id)
      const release = await published(service)
      if (release !== null) return release
    }
  }
  return null
}

/** Without a timeout: the service ends a step at its own limit. */
async function settled(service: ServiceAddress, id: string): Promise<void> {
  while (objectsOf((await call(service, `${AT}/commits?record_id=${id}`)).body['commits']).length === 0)
    await sleep(LOOK_AGAIN_MILLISECONDS, undefined, { signal: service.signal })
}
