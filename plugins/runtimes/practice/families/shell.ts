/** Running a command. The bare model often makes up the output instead of running it. */
import { drawInteger } from '../draw.ts'
import { makeTasks } from './family.ts'
import type { Family, Problem } from './family.ts'

const COMMAND = /\b(?:run|execute|use)\b[^`\n]*?`([^`\n]+)`/i

export const shell: Family = {
  name: 'shell',
  topic: /\bshell\b|\bbash\b|\bcommands?\b|terminal/i,
  lessons: ['use-tools'],
  read,
  tasks: () =>
    makeTasks('shell', (seed) => {
      const [low, high] = [drawInteger(2, 40, seed, 'low'), drawInteger(41, 99, seed, 'high')]
      return { prompt: `Run the command \`expr ${low} + ${high}\` and report its output.`, answer: String(low + high) }
    }),
}

function read(text: string): Problem | null {
  const command = COMMAND.exec(text)?.[1]?.trim()
  if (command === undefined || command === '') return null
  const guess = String(drawInteger(100, 999, command, 'guess'))
  return { right: guess, slips: [{ lesson: 'use-tools', wrong: guess }], command, needsTool: true }
}
