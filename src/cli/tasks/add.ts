/** `svc tasks add`: makes a task of a recorded exchange of the running service. */
import type { NewTask } from '@svc-ai/client'
import { shellWord, jsonText, oneLine } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from '../remote/address.ts'
import { chooseScenario } from '../remote/scenario.ts'
import { withService } from '../remote/service.ts'

export interface AddOptions extends RemoteOptions {
  readonly record: string
  readonly prompt?: string
  readonly rubric?: string
  readonly answer?: string
  readonly role?: NonNullable<NewTask['role']>
}

export function add(options: AddOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const { record, prompt, rubric, answer, role } = options
    const scenario = await chooseScenario(
      service,
      options.scenario,
      (name) => `tasks add ${shellWord(record)} --scenario ${shellWord(name)}`,
    )
    const task = await service.in(scenario).createTask({
      record_id: record,
      ...(prompt !== undefined && { prompt }),
      ...(rubric !== undefined && { rubric }),
      ...(answer !== undefined && { answer }),
      ...(role !== undefined && { role }),
    })
    surroundings.out(
      options.json === true
        ? jsonText(task, 2)
        : `${oneLine(task.name)} is a task of role ${task.role ?? 'gate'} now; steps play it from the next start of the service on`,
    )
    return EXIT.fine
  })
}
