/** The powers of a candidate: into the row, and what of them a person must review. */
import { isObject, POWER_SENTENCES, type Entry, type Json, type Power, type PowerReason } from '../contract/index.ts'
import { checksByCommand } from '../contract/wire/index.ts'
import { powerMetrics, powersBeyond, powersIn, powersOf } from '../harness/index.ts'
import type { StepRun } from './run.ts'

interface Requiring {
  readonly requires: readonly Json[]
}

/** Also the checks that it requires: they are commands that run on the person's machine. */
export function judgedPowers(run: StepRun, { requires }: Requiring, entries: readonly Entry[]): readonly PowerReason[] {
  const { context, order } = run
  const required = [...(order.batch.request?.requires ?? []), ...requires]
  const powers = [
    ...powersOf(run.entries, entries, context.adapter),
    ...requires.flatMap(requiredReason),
    ...required.flatMap(checkReason),
  ].map((reason) => withRequest(run, reason))
  Object.assign(run.metrics, powerMetrics(powers, context.settings.publish_powers))
  for (const power of powersIn(powers)) if (power !== 'words') run.report.line('check', `this change: ${POWER_SENTENCES[power]}`)
  return powers
}

const REQUIRED: Readonly<Partial<Record<string, Power>>> = { permission: 'grants', service: 'reaches', binary: 'runs' }

/** Items of a proposer were asked for by nobody: a variable to read, a service to reach, a permission to give, a program to install. */
function requiredReason(item: Json): readonly PowerReason[] {
  const { name, kind } = isObject(item) ? item : {}
  const power = typeof kind === 'string' ? (REQUIRED[kind] ?? 'reads') : 'reads'
  return [{ power, entry: typeof name === 'string' ? name : 'requires', why: 'it asks people to set something up' }]
}

function checkReason(item: unknown): readonly PowerReason[] {
  const { name, kind, check } = isObject(item) ? item : {}
  const entry = typeof name === 'string' ? name : 'requires'
  return checksByCommand({ kind, check }) ? [{ power: 'runs', entry, why: 'what it requires is checked by a command' }] : []
}

/** A person must know that an earlier request would be undone. */
function withRequest({ state }: StepRun, reason: PowerReason): PowerReason {
  const asked = reason.power === 'removes' ? state.asked.findLast(({ entry }) => entry === reason.entry) : undefined
  return asked === undefined
    ? reason
    : { ...reason, why: `${reason.why}${ASKED_FOR}${asked.text === undefined ? '' : `: “${asked.text}”`}` }
}

const ASKED_FOR = ', which a person asked for'

/** Which powers `evolution.publish_powers` does not list, or null. */
export function heldPowers({ context: { settings } }: StepRun, powers: readonly PowerReason[]): string | null {
  const held = powersBeyond(powers, settings.publish_powers)
  if (held.length === 0) return null
  const why = held.map((power) => {
    const undone = power === 'removes' ? powers.find((one) => one.power === power && one.why.includes(ASKED_FOR)) : undefined
    return undone === undefined ? POWER_SENTENCES[power] : `${POWER_SENTENCES[power]} (${undone.entry}: ${undone.why})`
  })
  return `its powers are held for review (${held.join(', ')}): ${why.join('; ')}; evolution.publish_powers lists what is not held`
}
