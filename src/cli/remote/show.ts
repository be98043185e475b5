/** `svc show`: one record or one release, to read. */
import { ServiceFailure, type FullRecord, type ReleaseRow, type Svc } from '@svc-ai/client'
import {
  ago,
  changesOf,
  counted,
  heldRows,
  stepName,
  stepTime,
  stepView,
  timeFor,
  type EntryChange,
  type StepComment,
  type StepFact,
  type StepView,
  type TaskScores,
} from '../../presentation/index.ts'
import { powerLines } from '../screen/powers.ts'
import { jsonText, oneLine, paint, shellWord, shownLines } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { recordText } from './records.ts'
import { findRelease, isNumbered, numberOf, shortId } from './release.ts'
import { promoteCommand, rejectCommand } from './releases.ts'
import { chooseScenario } from './scenario.ts'
import { withService, type RemoteService } from './service.ts'

export interface ShowOptions extends RemoteOptions {
  /** `step 3` comes as two words. */
  readonly what: readonly string[]
}

export function show(options: ShowOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const what = options.what.join(' ')
    const scenario = await chooseScenario(service, options.scenario, (name) => `show ${shellWord(what)} --scenario ${shellWord(name)}`)
    const svc = service.in(scenario)
    const record = isNumbered(what) ? null : await recordOf(svc, what)
    if (record !== null) {
      if (options.json === true) surroundings.out(jsonText(record, 2))
      else await surroundings.page(recordText(record, surroundings))
      return EXIT.fine
    }
    const rows = await svc.releases()
    const row = findStep(rows, what, service.command(`releases ${shellWord(scenario)}`))
    if (options.json === true) surroundings.out(jsonText(row, 2))
    else await surroundings.page(releaseText(row, rows, { service, scenario, surroundings }))
    return EXIT.fine
  })
}

/** Null where no record has that id: it may be the beginning of a release's. */
async function recordOf(svc: Svc, id: string): Promise<FullRecord | null> {
  try {
    return await svc.record(id)
  } catch (error) {
    if (error instanceof ServiceFailure && error.code === 'unknown_record') return null
    throw error
  }
}

/** A step without a release can be read too. */
function findStep(rows: readonly ReleaseRow[], what: string, list: string): ReleaseRow {
  const numbered = isNumbered(what) ? rows.find((row) => row.step === Number(/\d+/.exec(what)?.[0])) : undefined
  return numbered ?? rows.find((row) => stepTime(row) === what.trim()) ?? findRelease(rows, what, list)
}

interface Shown {
  readonly service: RemoteService
  readonly scenario: string
  readonly surroundings: Surroundings
}

function releaseText(row: ReleaseRow, rows: readonly ReleaseRow[], shown: Shown): string {
  const { surroundings } = shown
  const view = stepView(row, { rows, nameOf: stepName })
  const { status, madeRelease, brief, decision, rejection, comments, powers, failures, taskScores } = view
  const release = madeRelease ? `, release ${shortId(row.release_id)}` : ''
  return [
    `${paint(stepName(row), 'strong', surroundings)} ${status.word}${row.current ? ', served now' : ''}, ${ago(row.recorded_at)}${release}`,
    oneLine(status.meaning),
    ...brief.map(oneLine),
    ...titled('Rejected', rejection === null ? [] : [shownLines(rejection.reason)], surroundings),
    ...titled('Comments', comments.map(commentLine), surroundings),
    ...titled('Why', whyLines(view), surroundings),
    ...titled('Decided', decision === null ? [] : [oneLine(decision)], surroundings),
    ...failures.flatMap(({ title, text }) => titled(title, [shownLines(text)], surroundings)),
    ...(powers === null ? [] : ['', ...powerLines(powers, surroundings)]),
    ...titled('What changed', changeLines(row), surroundings),
    ...titled('Measured', measuredLines(view), surroundings),
    ...titled('Task by task, before and after', scoreLines(taskScores), surroundings),
    ...titled("The candidate's first episodes", taskLines(view), surroundings),
    ...titled('Needs to be set up', setupLines(view), surroundings),
    ...nextLines(row, rows, shown),
  ].join('\n')
}

const commentLine = ({ by, at, text }: StepComment): string => `${by === null ? 'a person' : oneLine(by)}, ${ago(at)}: ${shownLines(text)}`

const titled = (title: string, lines: readonly string[], surroundings: Surroundings): readonly string[] =>
  lines.length === 0 ? [] : ['', paint(title, 'strong', surroundings), ...lines.map((line) => line.replaceAll(/^/gm, '  '))]

function whyLines({ reason: { origin, intro, text, isQuoted }, design }: StepView): readonly string[] {
  const why = isQuoted && intro !== null ? `${intro}: ${text}` : text
  return [`${origin}. ${shownLines(why)}`, ...(design === null ? [] : [shownLines(design.plan)])]
}

/** Texts are compared by `svc diff`. */
function changeLines({ metrics }: ReleaseRow): readonly string[] {
  const { changes, more } = changesOf(metrics, null, { timeLeft: timeFor(0) })
  return [...changes.map(changeLine), ...(more > 0 ? [`and ${counted(more, 'more change')}`] : [])]
}

const changeLine = ({ op, id, entryKind }: EntryChange): string =>
  `${oneLine(op)} ${oneLine(id)}${entryKind === '' ? '' : ` (${oneLine(entryKind)})`}`

function measuredLines({ scores, cost, spent, facts }: StepView): readonly string[] {
  const known: readonly StepFact[] = [
    ...(scores === null ? [] : [['Score', scores.pairs === null ? scores.text : `${scores.text} (${scores.pairs})`] as const]),
    ...(cost === null ? [] : [['Episodes', cost] as const]),
    ...(spent === null ? [] : [['Spent', spent] as const]),
    ...facts.filter(([label]) => label === 'Held because' || label === 'Measured with'),
  ]
  return known.map(([label, text]) => `${label}: ${oneLine(text)}`)
}

const scoreLines = (rows: readonly TaskScores[]): readonly string[] =>
  rows.map(({ task, before, after, word }) => {
    const scores = `${before ?? 'not played'} → ${after ?? 'not played'}`
    return `${oneLine(task)}: ${scores}${word === null ? '' : `, ${word}`}`
  })

const taskLines = ({ tasks }: StepView): readonly string[] =>
  tasks.map(({ task, again, scoreText, notes }) =>
    [`${oneLine(task)}${again === '' ? '' : ` ${again}`}: ${scoreText}`, ...notes.map(oneLine)].join('; '),
  )

const setupLines = ({ setup: { own } }: StepView): readonly string[] =>
  own.map(({ kind, name, prompt }) => oneLine([kind, name, prompt ?? ''].join(' ')))

function nextLines(row: ReleaseRow, rows: readonly ReleaseRow[], { service, scenario }: Shown): readonly string[] {
  const name = `${numberOf(row)} --scenario ${shellWord(scenario)}`
  const isHeld = heldRows(rows).includes(row)
  return [
    '',
    ...(row.result === 'published' || row.result === 'pending' ? [`files: ${service.command(`diff ${name}`)}`] : []),
    ...(isHeld
      ? [`serve it: ${promoteCommand(row, scenario, service.command)}`, `turn it down: ${rejectCommand(row, scenario, service.command)}`]
      : []),
  ]
}
