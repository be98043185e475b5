/** A reporter for plug-ins: passes on well-formed reports, cut to size and limited per second. */
import {
  STEP_REPORTS_PER_SECOND_MAX,
  STEP_TEXT_CHARACTERS_MAX,
  type ActivityKind,
  type EpisodeReport,
  type EpisodesSoFar,
  type Reporter,
} from '../../contract/index.ts'
import { firstCodePoints, withoutKnownSecrets } from '../../kit/index.ts'

type PhaseName = Parameters<Reporter['phase']>[0]
type PhaseMore = NonNullable<Parameters<Reporter['phase']>[1]>

const SECOND_MS = 1000

const KINDS: ReadonlySet<string> = new Set<ActivityKind>(['model', 'agent', 'check', 'trial', 'provider', 'proposer'])
const PHASES: ReadonlySet<string> = new Set<PhaseName>(['proposing', 'evaluating'])

const cleaned = (text: string): string => firstCodePoints(withoutKnownSecrets(text), STEP_TEXT_CHARACTERS_MAX)

export class LimitedReporter implements Reporter {
  readonly #clockMs: () => number
  /** Null once the step is over: later reports belong to no step. */
  #to: Reporter | null
  #secondEndsMs = Number.NEGATIVE_INFINITY
  #passed = 0
  #phase: { readonly name: PhaseName; readonly more: PhaseMore } | null = null
  #leftOut: { readonly kind: ActivityKind; readonly lines: number } | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(to: Reporter, clockMs: () => number = () => performance.now()) {
    this.#to = to
    this.#clockMs = clockMs
  }

  phase(name: PhaseName, more: PhaseMore = {}): void {
    if (this.#to === null || !PHASES.has(name)) return
    const hasRoom = this.#hasRoom()
    this.#phase = { name, more: { ...this.#phase?.more, ...wellFormed(more) } }
    if (hasRoom) this.#catchUp()
  }

  line(kind: ActivityKind, text: string, failed?: boolean): void {
    if (this.#to === null || !KINDS.has(kind) || typeof text !== 'string') return
    if (this.#hasRoom()) this.#to.line(kind, cleaned(text), failed === true)
    else this.#leftOut = { kind, lines: (this.#leftOut?.lines ?? 0) + 1 }
  }

  /** Called a few times per step, so it is not limited. */
  job(id: string, status: string): void {
    if (typeof id !== 'string' || typeof status !== 'string') return
    this.#to?.job?.(cleaned(id), cleaned(status))
  }

  /** One that is left out is in the sums of the next. */
  episode(episode: EpisodeReport): void {
    const told = plainEpisode(episode)
    if (this.#to === null || told === null || !this.#hasRoom()) return
    this.#to.episode?.(told)
  }

  close(): void {
    this.#catchUp()
    clearTimeout(this.#timer)
    this.#to = null
  }

  /** A second begins with the first report after the last one ended. This also works for a trainer that never yields. */
  #hasRoom(): boolean {
    const now = this.#clockMs()
    if (now >= this.#secondEndsMs) {
      this.#catchUp()
      this.#secondEndsMs = now + SECOND_MS
      this.#passed = 0
    }
    this.#passed += 1
    if (this.#passed === STEP_REPORTS_PER_SECOND_MAX + 1) this.#timer = setTimeout(() => this.#catchUp(), this.#secondEndsMs - now).unref()
    return this.#passed <= STEP_REPORTS_PER_SECOND_MAX
  }

  #catchUp(): void {
    const [phase, leftOut] = [this.#phase, this.#leftOut]
    this.#phase = null
    this.#leftOut = null
    if (phase !== null) this.#to?.phase(phase.name, phase.more)
    if (leftOut !== null)
      this.#to?.line(
        leftOut.kind,
        `${leftOut.lines} more lines were left out: ${STEP_REPORTS_PER_SECOND_MAX} a second are passed on`,
        false,
      )
  }
}

/** A plug-in's object may hold anything: only the fields of the interface are passed on. */
function wellFormed({ episodes_total, step_record }: PhaseMore): PhaseMore {
  return {
    ...(typeof episodes_total === 'number' && { episodes_total }),
    ...(typeof step_record === 'string' && { step_record: firstCodePoints(step_record, STEP_TEXT_CHARACTERS_MAX) }),
  }
}

const SIDES: ReadonlySet<string> = new Set<EpisodeReport['side']>(['candidate', 'current', 'baseline', 'trial'])

/** Null for what is none; a plug-in's object may hold anything. */
function plainEpisode(given: EpisodeReport): EpisodeReport | null {
  const episode: EpisodeReport = Object(given)
  const { side, task, repeat, score, words, transcript } = episode
  const soFar: EpisodesSoFar = Object(episode.so_far)
  if (!SIDES.has(side) || typeof task !== 'string' || !Number.isFinite(repeat)) return null
  const text = (value: unknown): string | null => (typeof value === 'string' ? cleaned(value) : null)
  return {
    side,
    task: cleaned(task),
    repeat,
    score: numberOr(score, null),
    words: text(words),
    seconds: numberOr(episode.seconds, 0),
    ...taken(episode),
    transcript: text(transcript),
    so_far: { episodes: numberOr(soFar.episodes, 0), ...taken(soFar) },
  }
}

const taken = (of: EpisodesSoFar | EpisodeReport): Pick<EpisodeReport, 'input_tokens' | 'output_tokens' | 'cost'> => ({
  input_tokens: numberOr(of.input_tokens, 0),
  output_tokens: numberOr(of.output_tokens, 0),
  cost: numberOr(of.cost, null),
})

const numberOr = <T>(value: unknown, other: T): number | T => (typeof value === 'number' && Number.isFinite(value) ? value : other)
