/** The bundled tasks are those of the mock model, so that a service without any model of its own can be seen to learn. */
import { expect, it } from 'vitest'
import { PRACTICE_TASKS } from '../../runtimes/practice/tasks.ts'

/** Of every family the fourth and the eighth may be learnt from; the others are what candidates are measured by. */
const isForTraining = (name: string): boolean => Number(/\d+$/.exec(name)?.[0]) % 4 === 0

it('holds every practice task once, and every fourth of a family is for training', async () => {
  const tasks = PRACTICE_TASKS.map(({ name, prompt, answer }) => ({ name, prompt, role: isForTraining(name) ? 'train' : 'gate', answer }))
  await expect(`${JSON.stringify(tasks, null, 2)}\n`).toMatchFileSnapshot('./tasks.json')
})
