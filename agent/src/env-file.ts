/** Values of variables that a person gave for this harness, one NAME=VALUE a line, readable by them alone. */
import { inFolder } from './places.ts'
import { PRIVATE, readIfThere, writeWhole } from './whole-file.ts'

export async function readEnvFile(folder: string): Promise<Readonly<Record<string, string>>> {
  const text = (await readIfThere(inFolder(folder).env)) ?? ''
  const pairs = text.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
  return Object.fromEntries(pairs.filter(([name]) => isVariable(name)))
}

/** A value is one line: it was typed as one. */
export async function keepInEnvFile(folder: string, name: string, value: string): Promise<void> {
  const values = { ...(await readEnvFile(folder)), [name]: value }
  const text = Object.entries(values).map(([key, each]) => `${key}=${each}\n`)
  await writeWhole({ path: inFolder(folder).env, text: text.join(''), mode: PRIVATE })
}

export const isVariable = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
