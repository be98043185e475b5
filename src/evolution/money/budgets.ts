/** Holds the calls that workers make at this gateway to the budgets of their steps: in the ledger that all gateways of the scenario share. */
import { limited, STEP_CAP, type Documents, type HeldEpisodeCall, type StepBudget, type StepBudgets } from '../../contract/index.ts'
import { dialects } from '../../dialects/index.ts'
import { EpisodeBounds, usedWithin } from './bounds.ts'
import { CapReached } from './caps.ts'
import { Ledger } from './ledger.ts'
import { Purse, type HeldCall } from './purse.ts'
import { NO_TOKENS, type ModelCallUse, type PriceSettings } from './spent.ts'

/** Steps and episodes that are known at once; the oldest is forgotten, and known again with its next call. */
const KNOWN_MAX = 64
const RETRY_SECONDS = 60

interface BudgetParts {
  readonly documents: Documents
  readonly component: string
  readonly prices: PriceSettings
  readonly now: () => number
}

export function openBudgets({ documents, component, prices, now }: BudgetParts): StepBudgets {
  const ledger = new Ledger(documents, component)
  let reading: Promise<void> | null = null
  const purses = new Map<string, Purse>()
  const episodes = new Map<string, EpisodeBounds>()
  const read = (): Promise<void> =>
    (reading ??= ledger.settle(now()).catch((error: unknown) => {
      reading = null
      throw error
    }))
  return {
    async hold(budget, { episode, dialect, body: asked }, signal) {
      await read()
      // Its memory is given back when the call is over.
      const body = Buffer.from(asked)
      const purse = known(purses, JSON.stringify(budget), () => new Purse(ledger, { ...prices, ...budget }, budget.step, now))
      const bounds = known(episodes, episode, () => new EpisodeBounds())
      const bound = bounds.of({ dialect: dialects[dialect], model: budget.model, body, bytes: body.length })
      const held = await purse.hold('episode', bound, signal).catch((error: unknown) => {
        throw error instanceof CapReached ? limited(STEP_CAP, error.message, RETRY_SECONDS) : error
      })
      return heldCall({ purse, held, budget, bound }, (input) => bounds.counted(body, input))
    },
  }
}

function known<T>(all: Map<string, T>, key: string, make: () => T): T {
  const found = all.get(key) ?? make()
  all.delete(key)
  all.set(key, found)
  const [oldest] = all.keys()
  if (all.size > KNOWN_MAX && oldest !== undefined) all.delete(oldest)
  return found
}

interface Holding {
  readonly purse: Purse
  /** Null where nothing caps it. */
  readonly held: HeldCall | null
  readonly budget: StepBudget
  readonly bound: HeldCall['bound']
}

function heldCall({ purse, held, budget, bound }: Holding, asked: (input: number) => void): HeldEpisodeCall {
  return {
    settle({ how, model: named, input, output, answeredBytes }) {
      const model = budget.model ?? named
      const says = { input: (input ?? 0) > 0, output: (output ?? 0) > 0 }
      const counts = { input: input ?? 0, cached: 0, output: output ?? 0 }
      const used: ModelCallUse =
        how === 'refused'
          ? { ...NO_TOKENS, model, isAnswered: false }
          : { ...usedWithin(held?.bound ?? bound, { counts: () => counts, says, answeredBytes }, how), model, isAnswered: true }
      if (how === 'whole' && says.input) asked(used.input)
      purse.spend('episode', used, held)
      return { counted: { model, input: used.input, output: used.output }, kept: purse.written() }
    },
  }
}
