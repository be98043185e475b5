/** The agent's first messages. */
import type { Brief, ChatMessage, Task } from '../../../src/contract/index.ts'
import { DESIGN_BRIEF, fence, groundRules, REQUIRES_GUIDE, situation, SMALL_CHANGE } from '../../../src/evolution/index.ts'

const TASKS_SHOWN_MAX = 30
const TASK_CHARACTERS_MAX = 240

const WORKSPACE = [
  'You work on files, with tools. Nothing you write is run, but for trials.',
  '- harness/<kind>/<id>.md holds the text of an entry of kind rules, skill or agent_command; harness/code_extension/<id>.ts its code; harness/<kind>/<id>.json the config of an entry of any other kind. The file name without its ending is the id, and the name of a new skill, command or extension.',
  '- A file that you change changes its entry, a new file makes one, a file that you remove takes its entry away.',
  '- harness/requires.json is an array of what the person has to set up; leave it out when there is nothing.',
  '- design.md says what you change and why.',
  '- reference/ can be read only.',
  'Look before you write, check what you wrote, try it where you can, and call finish when it is done.',
].join('\n')

export function messagesOf(brief: Brief): readonly ChatMessage[] {
  const isAsked = brief.request !== null
  const system = [groundRules(brief), WORKSPACE, ...(isAsked ? [REQUIRES_GUIDE] : [])].join('\n\n')
  const content = [situation(brief), ...tasksOf(brief.tasks), isAsked ? DESIGN_BRIEF : SMALL_CHANGE].join('\n\n')
  return [
    { role: 'system', content: system },
    { role: 'user', content },
  ]
}

function tasksOf(tasks: readonly Task[]): readonly string[] {
  if (tasks.length === 0) return []
  const rows = tasks
    .slice(0, TASKS_SHOWN_MAX)
    .map(({ name, prompt }) => JSON.stringify({ task: name, prompt: prompt.slice(0, TASK_CHARACTERS_MAX).toWellFormed() }))
  return [`Tasks that a trial can play, by their names:\n${fence('tasks', rows.join('\n'))}`]
}
