/** The script of the test world: a shop's assistant, its tasks, and every requested, reported or proposed change. */
import type { ActivityKind, Entry, JsonObject, Mutation, Proposal } from '../../../src/contract/index.ts'
import { HOSTILE_PLAYS } from './hostile.ts'

export interface Play {
  /** The text of a request or report. */
  readonly words: string
  readonly proposal?: Proposal
  readonly failure?: string
  readonly activity?: readonly (readonly [kind: ActivityKind, text: string, failed?: boolean])[]
  /** Waits until the world opens its gate. */
  readonly waits?: boolean
}

/** In the folder of the step records. */
export const GATE_FILE = 'gate-is-open'

/** What the agent of this world knows: its rules only say which of it to use, since a rule may not hold a task's answer. */
export const RIGHT: Readonly<Record<string, string>> = {
  refunds: 'Within 30 days, to the card that was charged.',
  delivery: 'Two working days, four to the islands.',
  warranty: 'Two years on everything with a plug.',
  exchange: 'Free of charge within 14 days.',
  invoices: 'By mail, on the day the parcel leaves.',
  pickup: 'At every shop, from two hours after the order.',
  express: 'The next morning when ordered before noon.',
  tracking: 'By the link in the second mail.',
  sizes: 'One larger than the label for shoes from Italy.',
  vat: 'Included in every price that we show.',
  giftcards: 'Good for three years, in every shop.',
  repairs: 'At cost, once the two years are over.',
}

export const TASKS: readonly JsonObject[] = Object.entries(RIGHT).map(([topic, answer]) => ({
  name: topic,
  prompt: `A customer asks about ${topic}`,
  answer,
}))

const KNOWN_FIRST = ['delivery', 'vat']
const linesOf = (topics: readonly string[]): string => topics.map((topic) => `- ${topic}: as the terms of sale say\n`).join('')
const HEAD = '# The shop\n\nAnswer in one line, as the shop does.\n\n'

export const SEED: readonly Entry[] = [{ id: 'house-rules', name: 'rules', config: { text: `${HEAD}${linesOf(KNOWN_FIRST)}` } }]

const withRules = (topics: readonly string[], head = HEAD): Mutation => ({
  op: 'update',
  id: 'house-rules',
  options: { config: { text: `${head}${linesOf(topics)}` } },
})

const PARCEL_SKILL = `---
name: parcel
description: Find out where a parcel is and say it in one line.
---

1. Ask for the order number; it has eight digits.
2. Look the parcel up with \`track <number>\`.
3. Say where it is and when it will come. Never promise an hour.
`

const NIGHT_BELL = `import type { ExtensionAPI } from '@earendil-works/pi-coding-agent'

/** After closing time, says so before anything else. */
export default function (pi: ExtensionAPI) {
  pi.on('session_start', async (_event, ctx) => {
    if (!ctx.hasUI) return
    const hour = new Date().getHours()
    if (hour < 8 || hour > 19) ctx.ui.notify('The shop is closed; orders go out tomorrow.', 'info')
  })
}
`

export const PLAYS = {
  published: {
    words: 'Please tell customers how refunds work.',
    activity: [
      ['model', 'asks for a plan of the change'],
      ['check', 'admitted: update house-rules'],
    ],
    proposal: {
      mutations: [withRules([...KNOWN_FIRST, 'refunds'], HEAD.replace('in one line', 'in one friendly line'))],
      requires: [
        { name: 'SHOP_REGION', kind: 'env', prompt: 'The two letters of the region that prices are meant for.' },
        { name: 'track', kind: 'permission', prompt: 'Let the agent look parcels up.' },
      ],
      notes: {
        design: 'One line more in the house rules, in the words of the terms of sale.\n\n## How to use\nAsk about refunds.',
        review: { result: 'partial', covered: ['How refunds work'], uncovered: ['What a refund of a gift looks like'] },
        undeclared_env: ['SHOP_CURRENCY'],
        attempts: 2,
      },
    },
  },
  rejected: {
    words: 'Make the answers as short as they can be.',
    proposal: { mutations: [{ op: 'update', id: 'house-rules', options: { config: { text: 'Answer in one word.\n' } } }] },
  },
  learned: {
    words: 'Nobody could say anything about express parcels, tracking, warranty or sizes.',
    proposal: { mutations: [withRules(Object.keys(RIGHT))] },
  },
  useless: {
    words: 'The tone was a little dry.',
    proposal: { mutations: [{ op: 'create', id: 'manners', options: { name: 'rules', config: { text: 'Be warm, and never hurried.' } } }] },
  },
  promoted: {
    words: 'When somebody asks where their parcel is, look it up instead of guessing.',
    proposal: {
      mutations: [{ op: 'create', id: 'parcel', options: { name: 'skill', config: { name: 'parcel', text: PARCEL_SKILL } } }],
      notes: { review: { result: 'complete', covered: ['Look parcels up', 'No guessing'], uncovered: [] } },
    },
  },
  skipped: { words: 'Everything is fine as it is, thank you.' },
  failed: { words: 'Add a picture of the shop.', failure: 'the model gave no answer within 600 s' },
  pending: {
    words: 'After closing time, say so before anything else.',
    proposal: {
      mutations: [
        { op: 'create', id: 'night-bell', options: { name: 'code_extension', config: { name: 'night-bell', code: NIGHT_BELL } } },
        { op: 'remove', id: 'parcel' },
      ],
    },
  },
  waiting: {
    words: 'Greet customers in their own language.',
    waits: true,
    activity: [
      ['model', 'asks for a plan of the change'],
      ['model', 'writes the change: 3 entries, 2.1 KB'],
      ['check', 'an answer cannot be used and is asked for again: greet: config.text must be non-blank text', true],
      ['trial', 'plays delivery'],
      ['trial', 'delivery: 1'],
    ],
    proposal: {
      mutations: [{ op: 'create', id: 'greet', options: { name: 'rules', config: { text: 'Greet in the language you are greeted in.' } } }],
    },
  },
} as const satisfies Readonly<Record<string, Play>>

/** Queued behind the waiting request. */
export const QUEUED_WORDS = 'Offer a gift card when something is sold out.'

/** A proposal of an agent. */
export const PROPOSED: readonly Mutation[] = [
  { op: 'create', id: 'thanks', options: { name: 'rules', config: { text: 'Thank people for waiting.' } } },
]

export function playFor(words: string): Play | undefined {
  const plays: readonly Play[] = [...Object.values(PLAYS), ...HOSTILE_PLAYS]
  return plays.find((play) => play.words === words)
}
