/** A Python with PyTorch for tests. */
import { findPython } from '../../../src/cli/trainer/python.ts'

let found: string | null = null

/** Its path. Throws one line that says how to install it. Once found it is not looked for again in this process. */
export async function pythonWithTorch(): Promise<string> {
  found ??= await findPython(process.env)
  return found
}
