/** Who may read the texts of held-out tasks (prompts, workspaces, transcripts and evaluators' words), and releases that wait for review. One rule for every route. */
import { hasRight, HEADER, isObject, SESSION_TAG, unauthorized, type JsonObject, type StepProgress } from '../../contract/index.ts'
import { hasPrincipalRight } from '../credentials/auth.ts'
import type { HttpContext } from '../context.ts'

const SESSION_HEADER = `${HEADER.tagPrefix}${SESSION_TAG}`

interface Reader extends Pick<HttpContext, 'principal'> {
  readonly request: Pick<HttpContext['request'], 'headers'>
}

/**
 * People and the deployment. Not episodes, and not an agent: by its token, or by what its wrapper sends. Of the holders of a page's link those
 * to whom a token of the role review gave it: agents have no such token, and may have one of the configuration.
 */
export const readsHeldOut = ({ principal, request }: Reader): boolean =>
  (principal.kind === 'page' ? principal.role === 'review' : hasPrincipalRight(principal, 'read')) &&
  request.headers[SESSION_HEADER] === undefined

export function refuseAgents(context: HttpContext): void {
  if (!readsHeldOut(context)) throw unauthorized('this holds held-out tasks, which the session of an agent may not read')
}

/** Whether releases that wait for review are there for the reader. */
export const seesHeldReleases = ({ principal }: Pick<HttpContext, 'principal'>): boolean =>
  principal.kind === 'page' ? hasRight(principal.role, 'read') : hasPrincipalRight(principal, 'read')

/** A row as the reader may see it: of held-out tasks, names and scores alone. */
export function rowFor<Row extends { readonly metrics: JsonObject }>(context: HttpContext, row: Row): Row {
  if (readsHeldOut(context)) return row
  // The count of withheld samples would tell a client which text it guessed.
  const { candidate_episodes: episodes, withheld_samples: _, ...metrics } = row.metrics
  const isEvaluation = metrics['failed_stage'] === 'evaluating' && metrics['error'] !== undefined
  const error = isEvaluation ? { error: WITHHELD } : {}
  return {
    ...row,
    ...('error' in row && error),
    metrics: { ...metrics, ...error, ...(Array.isArray(episodes) && { candidate_episodes: episodes.filter(isObject).map(scored) }) },
  }
}

/** A running step likewise. */
export function stepFor(context: HttpContext, step: StepProgress): StepProgress {
  return readsHeldOut(context) ? step : { ...step, episodes: step.episodes.map((each) => ({ ...each, words: null, transcript: null })) }
}

const WITHHELD = 'the evaluation failed; the row says why to people with a token'

const scored = ({ task = null, score = null, repeat }: JsonObject): JsonObject => ({ task, score, ...(repeat !== undefined && { repeat }) })
