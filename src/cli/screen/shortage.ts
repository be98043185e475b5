/** Too few tasks, in a line. */
import type { TaskShortage } from '../../evolution/index.ts'
import { counted } from '../../presentation/index.ts'
import { oneLine } from './text.ts'

export const shortageText = ({ decisions, reason }: TaskShortage): string =>
  decisions === 0
    ? `too few tasks for any decision: ${oneLine(reason)}`
    : `enough tasks for ${counted(decisions, 'decision')}, and too few for more: ${oneLine(reason)}`
