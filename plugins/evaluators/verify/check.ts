/** Reads a task's verifier. */
import { checkFiles, invalid, isObject, type Files, type Json, type Task } from '../../../src/contract/index.ts'

export interface Check {
  readonly words: readonly string[]
  readonly files: Files
  /** Whether the last line that the command prints is the score. */
  readonly hasReward: boolean
}

export function checkOf({ name, data }: Task): Check {
  const { verify, verify_files: files = {}, verify_reward: hasReward = false } = data ?? {}
  const words = wordsOf(verify)
  if (words === null) throw refused(name, 'verify must be a command, or a list of its words')
  if (!isObject(files) || !areTexts(files)) throw refused(name, 'verify_files must be an object of paths and texts')
  if (typeof hasReward !== 'boolean') throw refused(name, 'verify_reward must be true or false')
  checkFiles(files)
  return { words, files, hasReward }
}

const refused = (name: string, rule: string): Error => invalid('verify_unusable', `task ${name}: ${rule}, for the evaluator verify`)

function wordsOf(verify: Json | undefined): readonly string[] | null {
  if (typeof verify === 'string') return verify.trim() === '' ? null : ['sh', '-c', verify]
  if (!isList(verify) || verify.length === 0) return null
  const words = verify.filter((word) => typeof word === 'string')
  return words.length === verify.length ? words : null
}

/** Array.isArray does not narrow readonly arrays. */
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

function areTexts(files: Readonly<Record<string, Json>>): files is Files {
  return Object.values(files).every((text) => typeof text === 'string')
}
