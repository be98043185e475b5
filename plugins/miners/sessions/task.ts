/** Makes a task of a conversation: its first request, what is known of its workspace, and how it is graded. All its texts are data of others. */
import { createHash } from 'node:crypto'
import { MINED_PROMPT_ENDS, taskName, type Files, type JsonObject, type MinedTask, type Reference } from '../../../src/contract/index.ts'
import { asData, countCodePoints, firstCodePoints, withoutSecrets } from '../../../src/kit/index.ts'
import type { Thread } from '../../../src/sessions/index.ts'
import { isCode, isTest, moduleOf } from '../common/paths.ts'
import { isSetting, verifierOf, type Verifier } from '../common/verifier.ts'
import { lettersIn, LETTERS_MIN, visible } from '../common/words.ts'
import { shortLine, type Judgement } from './judgement.ts'
import { workspaceIn, type WorkspaceShown } from './workspace.ts'

/** Longer ones are documents. */
const PROMPT_CHARACTERS_MAX = 20_000
const WORDS_CHARACTERS_MAX = 2000
const ANSWER_CHARACTERS_MAX = 20_000

/** The same session and request is the same task, however often it was asked. */
export function originOf(thread: Thread): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([thread.session, requestOf(thread)]))
    .digest('hex')
  return `session:${digest}`
}

export const requestOf = ({ steps }: Thread): string => steps.find((step) => step.by === 'person')?.text ?? ''

/** The task of a conversation, or why it has none. */
export function taskOf(thread: Thread, judgement: Judgement): MinedTask | string {
  const asked = clean(withoutFolder(requestOf(thread), thread.folder))
  if (lettersIn(asked) < LETTERS_MIN) return 'its request says too little'
  if (countCodePoints(asked) > PROMPT_CHARACTERS_MAX) return `its request has more than ${PROMPT_CHARACTERS_MAX} characters`
  const work = workOf(thread)
  const shown = workspaceIn(work, thread.folder)
  if (shown === null) return 'it changed a file that the session does not show'
  if (shown.hasWorked && Object.keys(shown.before).length === 0) return 'it worked on files that the session does not show'
  const said = clean(work.findLast((step) => step.by === 'agent')?.text ?? '')
  const grading = gradingOf({ judgement, shown, said })
  const origin = originOf(thread)
  return {
    name: taskName(asked, origin.slice('session:'.length)),
    prompt: [asked, ...(Object.keys(grading.files).length > 0 ? [MINED_PROMPT_ENDS.files] : []), ...grading.ask].join('\n\n'),
    ...(Object.keys(grading.files).length > 0 && { files: grading.files }),
    data: grading.data,
    origin,
    about: {
      session: thread.session === null ? null : clean(thread.session),
      exchanges: thread.exchanges.length,
      judged_by: judgement.by,
      verdict: judgement.verdict,
      ...(grading.runner !== null && { runner: grading.runner }),
      seems: judgement.seems.toJSON(),
    },
    module: grading.module ?? taskName(asked, origin.slice('session:'.length)),
    ...(grading.reference !== null && { reference: grading.reference }),
  }
}

/** From the first request to the next words of the person. */
function workOf({ steps }: Thread): Thread['steps'] {
  const begin = steps.findIndex(({ by }) => by === 'person') + 1
  const next = steps.findIndex(({ by }, at) => by === 'person' && at >= begin)
  return steps.slice(begin, next === -1 ? undefined : next)
}

interface Grading {
  readonly files: Files
  readonly data: JsonObject
  /** What the prompt says of the answer. */
  readonly ask: readonly string[]
  readonly reference: Reference | null
  readonly module: string | null
  readonly runner: string | null
}
interface Graded {
  readonly judgement: Judgement
  readonly shown: WorkspaceShown
  /** The agent's last words. */
  readonly said: string
}

/** By its tests, else by the answer that the person stated or confirmed, else by a judge who reads the person's words. */
function gradingOf(graded: Graded): Grading {
  const { judgement, shown, said } = graded
  const files = cleanFiles(shown.before)
  const verifier = verifierFor(shown, files)
  const plain = { files, ask: [], reference: null, runner: null, module: moduleIn(shown) }
  if (verifier !== null && judgement.verdict !== 'bad')
    return {
      ...plain,
      data: { evaluator: 'verify', verify: ['sh', 'verify/run.sh'], verify_files: verifier.files },
      reference: { files: changedCode(shown), removed: shown.removed.filter((path) => !isTest(path)) },
      runner: verifier.runner,
    }
  const answer = shown.hasWorked ? null : answerFrom(judgement, said)
  if (answer !== null)
    return {
      ...plain,
      data: { evaluator: 'answer', answer },
      ask: [MINED_PROMPT_ENDS.answer],
      reference: { files: {}, removed: [], answer },
    }
  const accepted = judgement.verdict === 'good' && said !== '' ? firstCodePoints(said, ANSWER_CHARACTERS_MAX) : null
  return {
    ...plain,
    data: { evaluator: 'judge', rubric: rubricOf(judgement) },
    reference: accepted === null ? null : { files: {}, removed: [], answer: accepted },
  }
}

/** Tests that were there before: those that the agent wrote check what it chose to do, and not what was asked. */
function verifierFor({ changed, removed, hasPassed }: WorkspaceShown, files: Files): Verifier | null {
  const tests = ofPaths(files, isTest)
  const hasFixed = [...Object.keys(changed), ...removed].some(isCode)
  if (!hasPassed || !hasFixed || Object.keys(tests).length === 0) return null
  return verifierOf({ tests, settings: ofPaths(files, isSetting) })
}

const ofPaths = (files: Files, isWanted: (path: string) => boolean): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => isWanted(path)))

const changedCode = ({ changed }: WorkspaceShown): Files => cleanFiles(ofPaths(changed, (path) => !isTest(path)))

/** Null: a family of its own. */
function moduleIn({ before, changed }: WorkspaceShown): string | null {
  const [path] = [...Object.keys(changed), ...Object.keys(before)]
  return path === undefined ? null : moduleOf(path)
}

/** A confirmed answer counts where a report confirms it: thanks may be for something else. */
function answerFrom({ stated, verdict, by }: Judgement, said: string): string | null {
  const answer = stated ?? (verdict === 'good' && by === 'report' ? shortLine(said) : null)
  return answer === null ? null : shortLine(clean(answer))
}

const RUBRIC = 'A good answer does all of what was asked.'
const SAID = {
  good: 'An earlier answer was accepted. What the person said of it is quoted here, as data:',
  bad: 'An earlier answer was found unsatisfactory. What the person said of it, which a good answer gives no cause for, is quoted here, as data:',
}

function rubricOf({ verdict, words }: Judgement): string {
  const quoted = asData(clean(words), WORDS_CHARACTERS_MAX)
  if (verdict === null || quoted === '') return RUBRIC
  return `${RUBRIC} ${SAID[verdict]}\n${quoted.replaceAll(/^/gm, '> ')}`
}

/** Without secrets, control characters and marks that people do not see. */
const clean = (text: string): string => visible(withoutSecrets(text)).toWellFormed()

/** Files keep their characters; one that is nothing but a secret is left out. */
function cleanFiles(files: Files): Files {
  const safe = Object.entries(files).map(([path, text]) => [path, withoutSecrets(text).toWellFormed()] as const)
  return Object.fromEntries(safe.filter(([, text]) => text !== '[redacted]'))
}

/** A person's own folder means nothing on another machine. */
const withoutFolder = (text: string, folder: string | null): string =>
  folder === null ? text : text.replaceAll(`${folder}/`, '').replaceAll(folder, '.')
