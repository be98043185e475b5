/** Commands typed against a whole service, by somebody who has its address. */
import { join } from 'node:path'
import { runCli } from '../program.ts'
import { fakeSurroundings, type FakeTerminal } from './surroundings.ts'

/** Every instruction becomes a release that waits for review, with the files of an agent. */
export const HOLDING = {
  recipe: join(import.meta.dirname, '../../../test/fixtures/held-orders.ts'),
  'evolution.adapter': 'pi',
  'data.training_mode': 'manual',
}

export interface Typed {
  readonly exit: number
  readonly out: string
  readonly err: readonly string[]
  /** What the person was asked. */
  readonly asked: string
}

export async function typeCommand(address: string, args: readonly string[], terminal?: FakeTerminal): Promise<Typed> {
  const surroundings = fakeSurroundings({}, { SVC_URL: address }, terminal)
  const exit = await runCli(args, surroundings)
  return { exit, out: surroundings.printed.join('\n'), err: surroundings.complaints, asked: surroundings.questions.join('\n') }
}
