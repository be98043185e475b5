/** `svc-native -p`: one turn in the folder it is started in; the answer on the standard output, and nothing else there. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Failure, UsageError } from '@svc-ai/client/shared'
import { TurnEnded } from './ended.ts'
import { loadTree } from './load.ts'
import { runTurn, type TurnEnd } from './run-turn.ts'
import { boundModel, sceneOf } from './scene.ts'
import { openLog, redactor, sessionName } from './session-log.ts'

const FOLDER_VARIABLE = 'SVC_NATIVE_DIR'
const NOT_COMPLETED = 3

export async function oneTurn([prompt, ...rest]: readonly string[], signal: AbortSignal): Promise<number> {
  if (prompt === undefined || prompt.trim() === '') throw new UsageError('say what to do, in quotes, after -p')
  if (rest.length > 0) throw new UsageError('the prompt must be one word: put it in quotes')
  const folder = process.env[FOLDER_VARIABLE]?.trim() ?? ''
  if (folder === '') throw new Failure(`${FOLDER_VARIABLE} is not set: it names the folder native of a harness`)
  return tellEnd(await turnIn(folder, prompt, signal))
}

async function turnIn(folder: string, prompt: string, signal: AbortSignal): Promise<TurnEnd> {
  const tree = loaded(() => loadTree(folder))
  const model = loaded(() => boundModel(tree))
  const name = sessionName(randomBytes(4).toString('hex'))
  const log = openLog({ folder: join(tree.folder, 'sessions'), name, redact: redactor(model.apiKey) })
  return runTurn(sceneOf({ tree, model, workdir: process.cwd(), signal }), log, [], prompt)
}

function loaded<T>(load: () => T): T {
  try {
    return load()
  } catch (error) {
    if (error instanceof TurnEnded) throw new Failure(error.message)
    throw error
  }
}

/** 0 when it is completed, 1 for an error, 3 for any other end. */
export function tellEnd({ reason, text, code, message }: TurnEnd): number {
  if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  if (reason === 'completed') return 0
  const words = (message ?? '').replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  process.stderr.write(`svc-native: ${code ?? reason}${words === '' ? '' : `: ${words}`}\n`)
  return reason === 'error' ? 1 : NOT_COMPLETED
}
