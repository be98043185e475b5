/** Whether there is a file or a folder at a path. */
import { access } from 'node:fs/promises'
import { isMissing } from '../../../../src/kit/index.ts'

export async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
