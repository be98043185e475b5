/** `svc tasks accept` and `svc tasks drop`: a person's decision on mined tasks, which mining again keeps. */
import { resolve } from 'node:path'
import { decide, readMinedTask, type TaskStatus } from '../../mining/index.ts'
import { counted } from '../../presentation/index.ts'
import { printError } from '../explain.ts'
import { jsonText } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { placeOf } from './place.ts'

export interface DecideOptions {
  readonly folder: readonly string[]
  readonly json?: boolean
}

/** All of them, or none where a folder is no mined task. */
const deciding =
  (status: TaskStatus) =>
  async ({ folder, json }: DecideOptions, surroundings: Surroundings): Promise<number> => {
    try {
      // A folder may be named twice, as ./tasks/one and tasks/one/ are.
      const places = [...new Set(folder.map((each) => resolve(each)))].map(placeOf)
      for (const { directory, name } of places) await readMinedTask(directory, name)
      for (const { directory, name } of places) await decide(directory, name, status)
      surroundings.out(
        json === true
          ? jsonText(
              places.map(({ name }) => ({ name, status })),
              2,
            )
          : `${counted(places.length, 'task')} ${status}`,
      )
      return EXIT.fine
    } catch (error) {
      printError(error, null, surroundings)
      return EXIT.misconfigured
    }
  }

export const accept = deciding('accepted')
export const drop = deciding('dropped')
