/** The question for the tasks: a folder of folders, a file with a list, or the tasks that come with the service. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { parse } from 'yaml'
import { oneLine } from '../screen/text.ts'
import type { InitChoice, Misfit, InitQuestion } from './ask.ts'
import { codeOf, isMissing } from '../../kit/index.ts'

/** `folder`: the configuration's folder, which paths in it are relative to. */
export function tasksQuestion(folder: string): InitQuestion {
  return {
    option: '--tasks',
    title:
      'Where are the tasks that changes are measured by? A folder with one folder per task, or a YAML or JSON file with a list of them',
    choices: ['the small general tasks that come with the service (default)'],
    async read(answer) {
      if (answer === '' || answer === '1') return { settings: {}, words: 'measured by the tasks that come with the service' }
      try {
        return (await stat(answer)).isDirectory() ? await fromFolder(answer, folder) : await fromFile(answer)
      } catch (error) {
        return { problem: `${oneLine(answer)} ${wordsOf(error)}; name a folder or a file, or answer nothing` }
      }
    },
  }
}

async function fromFolder(answer: string, folder: string): Promise<InitChoice | Misfit> {
  const names = await readdir(answer, { withFileTypes: true })
  if (!names.some((each) => each.isDirectory())) return { problem: `${oneLine(answer)} holds no folder; each task is a folder of its own` }
  const path = relative(folder, resolve(answer)).split(sep).join('/') || '.'
  return { settings: { 'evolution.tasks_dir': path }, words: `measured by the tasks in ${oneLine(answer)}` }
}

/** Copied, since a list of tasks is part of the configuration. */
async function fromFile(answer: string): Promise<InitChoice | Misfit> {
  const tasks: unknown = readList(await readFile(answer, 'utf8'))
  if (!Array.isArray(tasks) || tasks.length === 0)
    return { problem: `${oneLine(answer)} holds no list of tasks; each is a text, or {name, prompt, answer, …}` }
  return { settings: { 'evolution.tasks': tasks.map(literal) }, words: `measured by the ${tasks.length} tasks of ${oneLine(answer)}` }
}

/** Null for invalid YAML; the parser's message may quote the file. */
function readList(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' })
  } catch {
    return null
  }
}

/** Text in a configuration is filled from the environment; a task's text must not be. */
const literal = (task: unknown): unknown => (typeof task === 'string' ? task.replaceAll('${', () => '$${') : task)

function wordsOf(error: unknown): string {
  return isMissing(error) ? 'is not there' : `cannot be read (${codeOf(error) ?? 'unreadable'})`
}
