/** Whether what a killed run left is what an undisturbed one leaves. */
import type { Attack, Outcome } from './attempt.ts'

export interface Expected {
  /** Everything the step consumes. */
  readonly batch: readonly string[]
  readonly undisturbed: Outcome
}

/** One line for each promise that was broken. */
export function judge(attack: Attack | null, outcome: Outcome, expected: Expected): readonly string[] {
  return [...judgeRows(outcome, expected.batch), ...judgeAdapter(attack, outcome, expected.undisturbed), ...judgeService(outcome, expected)]
}

function judgeRows({ rows, pending }: Outcome, batch: readonly string[]): readonly string[] {
  const published = rows.filter(({ operation, outcome }) => operation === 'train' && outcome === 'published')
  const others = rows.filter((row) => !published.includes(row))
  const times = (id: string): number => rows.flatMap(({ consumed }) => consumed).filter((one) => one === id).length
  const wrong = batch.filter((id) => times(id) !== 1)
  const strange = new Set(rows.flatMap(({ consumed }) => consumed).filter((id) => !batch.includes(id)))
  return [
    ...(published.length === 1 ? [] : [`the batch was published ${published.length} times`]),
    ...others.map(({ step, operation, outcome, error }) => `step ${step} is a row of its own: ${operation}, ${outcome} ${error}`.trim()),
    ...wrong.map((id) => `${id} was consumed ${times(id)} times`),
    ...[...strange].map((id) => `${id} was consumed and is not of the batch`),
    ...pending.map((id) => `${id} still waits to be learnt from`),
  ]
}

function judgeAdapter(attack: Attack | null, { adapter, statesSaved }: Outcome, undisturbed: Outcome): readonly string[] {
  if (adapter === null) return ['no release was trained']
  const wanted = undisturbed.adapter
  // A trainer that dies forgets what it did not save, so only then may the job be trained a second time, on a branch of its own.
  const savedMax = attack?.who === 'trainer' ? 2 : 1
  return [
    ...(adapter.job === wanted?.job ? [] : ['its job is not the one of the undisturbed run: it was made from something else']),
    ...(adapter.sha256 === wanted?.sha256 ? [] : ['its weights are not those of the undisturbed run']),
    ...(adapter.optimizerSteps === wanted?.optimizerSteps ? [] : [`its provenance counts ${adapter.optimizerSteps} optimizer steps`]),
    ...(adapter.stateSteps === adapter.optimizerSteps ? [] : [`the trainer's state counts ${adapter.stateSteps} optimizer steps`]),
    ...(statesSaved >= 1 && statesSaved <= savedMax ? [] : [`the trainer kept ${statesSaved} states of the job`]),
  ]
}

function judgeService(outcome: Outcome, { undisturbed }: Expected): readonly string[] {
  const { answer, answeredBy, adapters, damage, exitCode } = outcome
  const stray = adapters.filter((name) => !undisturbed.adapters.includes(name))
  return [
    ...(answer === undisturbed.answer ? [] : ['the model answers otherwise than after the undisturbed run']),
    ...(answeredBy === undisturbed.answeredBy ? [] : [`the load ${answeredBy} answers instead of ${undisturbed.answeredBy}`]),
    ...stray.map((name) => `the engine holds ${name}, which serves no scenario`),
    ...damage,
    ...(exitCode === 0 ? [] : [`the service ended with ${exitCode} when asked to stop`]),
  ]
}
