/** A Python with PyTorch for tests. */
import { findPython } from '../../../src/cli/trainer/python.ts'

let found: string | null = null

/** Its path, cached. Throws with how to install it. */
export async function pythonWithTorch(): Promise<string> {
  found ??= await findPython(process.env)
  return found
}
