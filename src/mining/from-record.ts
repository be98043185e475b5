/** Makes a task of a recorded exchange, for a person who wants changes to be measured by it. */
import { createHash } from 'node:crypto'
import { conflict, invalid, taskName, unavailable, type MinedTask, type RecordedTask } from '../contract/index.ts'
import { TASKS_MAX, userTexts } from '../evolution/index.ts'
import { codeOf, makeFolder } from '../kit/index.ts'
import { readMined, writeMined, type Placement } from './folder.ts'
import { placedIn, screen } from './mine.ts'
import { textOf, twinsOf } from './placing.ts'

/** In use from the next start of the service on. A record becomes a task once. Answers with the name of the task. */
export async function addRecorded(directory: string, wanted: RecordedTask): Promise<string> {
  const found = taskIn(wanted)
  const screened = screen(found)
  if (typeof screened === 'string') throw invalid('task_invalid', `the task cannot be made: ${screened}; change the prompt or the rubric`)
  await makeFolder(directory).catch(unwritable)
  const there = await readMined(directory)
  const before = there.find(({ mined }) => mined?.origin === found.origin)
  if (before !== undefined) throw alreadyTask(before.name)
  // With one more the service would not start again.
  if (there.length >= TASKS_MAX)
    throw conflict(
      'too_many_tasks',
      `evolution.tasks_dir holds ${there.length} folders; at most ${TASKS_MAX} are allowed, so move some away`,
    )
  const twins = twinsOf({ shingles: textOf(found) }, await placedIn(directory, there))
  const placement = { role: wanted.role ?? twins[0]?.role ?? 'gate', family: twins[0]?.family ?? found.name }
  const across = twins.find((twin) => isHeldOut(twin) !== isHeldOut(placement))
  if (across !== undefined)
    throw invalid(
      'task_invalid',
      `role: a task that says nearly the same has the role ${across.role}; on both sides of the held-out line it would give itself away`,
    )
  const isNew = await writeMined(directory, found, placement, { status: 'accepted', check: null }).catch(unwritable)
  if (!isNew) throw alreadyTask(found.name)
  return found.name
}

function unwritable(cause: unknown): never {
  throw unavailable(
    'tasks_unwritable',
    `evolution.tasks_dir cannot be written (${codeOf(cause)}); make room, or let the service write there`,
    {
      cause,
    },
  )
}

const isHeldOut = ({ role }: Pick<Placement, 'role'>): boolean => role !== 'train'

const alreadyTask = (name: string): Error => conflict('task_exists', `this record is the task ${JSON.stringify(name)} already`)

const UNSAID = 'An earlier answer to this was found unsatisfactory. A good answer does all of what was asked.'

function taskIn({ record_id: id, exchange, prompt, rubric, answer }: RecordedTask): MinedTask {
  const asked = userTexts(exchange).at(-1)?.toWellFormed() ?? ''
  const words = prompt ?? asked
  if (words.trim() === '') throw invalid('task_invalid', 'prompt: the exchange has no words of a user; say what the agent is asked')
  if (rubric !== undefined && answer !== undefined) throw invalid('invalid_field', 'answer: leave it out, or leave out the rubric')
  return {
    // Of the record alone, so that two people who make it a task at once make one.
    name: taskName(asked, createHash('sha256').update(id).digest('hex')),
    prompt: words,
    data: answer === undefined ? { evaluator: 'judge', rubric: rubric ?? UNSAID } : { evaluator: 'answer', answer },
    origin: `record:${id}`,
    about: { record: id },
    module: '',
  }
}
