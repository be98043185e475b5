/** `svc diff`: the files that differ between two releases, line by line. */
import { ServiceFailure, type Manifest, type ReleaseRow, type Svc } from '@svc-ai/client'
import { unknown } from '../../contract/index.ts'
import {
  compare,
  counted,
  filesBetween,
  filesSummary,
  heldRows,
  makerOf,
  timeFor,
  withGaps,
  type DiffGap,
  type DiffLine,
  type FileChange,
} from '../../presentation/index.ts'
import { jsonText, oneLine, paint, shellWord, shownLines } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { findRelease, numberOf, servedRow, shortId } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export interface DiffOptions extends RemoteOptions {
  readonly release?: string
  readonly other?: string
}

interface ComparedReleases {
  /** Undefined: compared with nothing. */
  readonly from: ReleaseRow | undefined
  readonly to: ReleaseRow
}

export function diff(options: DiffOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const words = [options.release, options.other].filter((word) => word !== undefined).map(shellWord)
    const command = (name: string): string => ['diff', ...words, '--scenario', shellWord(name)].join(' ')
    const scenario = await chooseScenario(service, options.scenario, command)
    const svc = service.in(scenario)
    const compared = comparedIn(await svc.releases(), options, service.command(`releases ${shellWord(scenario)}`))
    const files = await changesBetween(svc, compared.from?.release_id ?? null, compared.to.release_id)
    if (files === null) throw unknown('no_files', `${oneLine(scenario)} serves no files that could be compared`)
    const [from, to] = [compared.from?.release_id ?? null, compared.to.release_id]
    if (options.json === true) surroundings.out(jsonText({ scenario, from, to, files }, 2))
    else await surroundings.page([heading(scenario, compared, files), ...files.flatMap((file) => fileLines(file, surroundings))].join('\n'))
    return EXIT.fine
  })
}

/** Without a name: what waits for review against what is served, else what is served against its parent. One release alone: against its parent. */
function comparedIn(rows: readonly ReleaseRow[], { release, other }: DiffOptions, list: string): ComparedReleases {
  const parentOf = ({ parent_release_id }: ReleaseRow): ReleaseRow | undefined => makerOf(rows, parent_release_id)
  if (release !== undefined) {
    const first = findRelease(rows, release, list)
    return other === undefined ? { from: parentOf(first), to: first } : { from: first, to: findRelease(rows, other, list) }
  }
  const [held] = heldRows(rows)
  const served = servedRow(rows)
  if (held !== undefined) return { from: served, to: held }
  if (served === undefined) throw unknown('nothing_served', `nothing is served that could be compared; see what there is: ${list}`)
  return { from: parentOf(served), to: served }
}

/** Null for a scenario that serves no files, or a release whose files cannot be pulled. Compared with nothing, every file is new. */
export async function changesBetween(svc: Svc, from: string | null, to: string): Promise<readonly FileChange[] | null> {
  const [before, after] = await Promise.all([from === null ? {} : filesOf(svc, from), filesOf(svc, to)])
  return before === null || after === null ? null : filesBetween(before, after)
}

async function filesOf(svc: Svc, releaseId: string): Promise<Manifest['files'] | null> {
  try {
    return (await svc.manifest(releaseId)).files
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 404) return null
    throw error
  }
}

function heading(scenario: string, { from, to }: ComparedReleases, files: readonly FileChange[]): string {
  return `${oneLine(scenario)}: ${from === undefined ? 'nothing' : nameOf(from)} → ${nameOf(to)}, ${filesSummary(files)}`
}

const nameOf = (row: ReleaseRow): string => `${numberOf(row)} ${shortId(row.release_id)}`

/** Comparing one file takes no longer. */
const COMPARE_MILLISECONDS_MAX = 1000

function fileLines({ path, kind, before, after }: FileChange, surroundings: Surroundings): readonly string[] {
  const compared = compare(before, after, { timeLeft: timeFor(COMPARE_MILLISECONDS_MAX) })
  const counts = compared === null ? '' : ` (+${compared.added} -${compared.removed})`
  const title = paint(`${kind} ${oneLine(path)}${counts}`, 'strong', surroundings)
  if (compared === null)
    return ['', title, 'The two texts are too different to be compared line by line; this is the new one.', shownLines(after)]
  return ['', title, ...withGaps(compared.lines).map((line) => lineText(line, surroundings))]
}

function lineText(line: DiffLine | DiffGap, surroundings: Surroundings): string {
  if (line.kind === 'gap') return paint(`  … ${counted(line.count, 'unchanged line')}`, 'quiet', surroundings)
  const text = shownLines(line.parts.map((part) => part.text).join(''))
  if (line.kind === 'same') return `  ${text}`
  return line.kind === 'added' ? paint(`+ ${text}`, 'good', surroundings) : paint(`- ${text}`, 'bad', surroundings)
}
