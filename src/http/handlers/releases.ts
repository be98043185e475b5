/** Commits and releases: reading history back, and moving the head. */
import { COMMIT_FILTER_IDS_MAX, invalid, RECORD_ID_CHARACTERS_MAX } from '../../contract/index.ts'
import type { CommitList, Head, ReleaseList } from '../../contract/index.ts'
import { commentBodySchema, moveBodySchema, rejectBodySchema } from '../../contract/wire/index.ts'
import { countCodePoints } from '../../kit/index.ts'
import { checkShape, refuseCredential } from '../../records/index.ts'
import { catalogOf, commitRow } from '../../releases/index.ts'
import { catalogRows } from '../../scenarios/index.ts'
import { actorOf, noteChange } from './audit.ts'
import type { HttpContext } from '../context.ts'
import { rowFor } from './held-out.ts'
import { json, liveJson, type HttpReply } from '../reply.ts'
import { cutPage, nameInPath, pageLimit, wholeNumber } from '../request-fields.ts'

export async function commits(context: HttpContext): Promise<HttpReply> {
  const { services, query } = context
  const name = nameInPath(context)
  const after = wholeNumber(query, 'after_step', 0)
  const limit = pageLimit(query)
  const ids = recordIds(query.getAll('record_id'))
  return services.registry.use(name, async (scenario) => {
    const found = await scenario.wholeRows({ after, limit: limit + 1, ...(ids.length > 0 && { ids }) })
    const { rows, next } = cutPage(found, limit, (row) => row.step)
    return liveJson({
      scenario: name,
      commits: rows.map((row) => rowFor(context, commitRow(row))),
      next_after_step: next,
    } satisfies CommitList)
  })
}

function recordIds(ids: readonly string[]): readonly string[] {
  if (ids.length > COMMIT_FILTER_IDS_MAX) throw invalid('invalid_query', `record_id: at most ${COMMIT_FILTER_IDS_MAX} values`)
  if (ids.some((id) => id === '' || countCodePoints(id) > RECORD_ID_CHARACTERS_MAX))
    throw invalid('invalid_query', `record_id: each value must be of 1 to ${RECORD_ID_CHARACTERS_MAX} characters`)
  return ids
}

export async function list(context: HttpContext): Promise<HttpReply> {
  const { services, query } = context
  const name = nameInPath(context)
  const isPaged = query.has('limit') || query.has('before_step')
  const limit = pageLimit(query)
  const before = wholeNumber(query, 'before_step', Number.MAX_SAFE_INTEGER)
  return services.registry.use(name, async (scenario) => {
    if (!isPaged)
      return liveJson({
        scenario: name,
        releases: catalogOf(await scenario.everyRow())
          .toReversed()
          .map((row) => rowFor(context, row)),
      } satisfies ReleaseList)
    const { rows, next } = cutPage(await scenario.wholeRows({ before, limit: limit + 1 }), limit, (row) => row.step)
    return liveJson({
      scenario: name,
      releases: (await catalogRows(scenario, rows)).map((row) => rowFor(context, row)),
      next_before_step: next,
    } satisfies ReleaseList)
  })
}

export const rollback = (context: HttpContext): Promise<HttpReply> => move(context, 'rollback')
export const promote = (context: HttpContext): Promise<HttpReply> => move(context, 'promote')
export const withdraw = (context: HttpContext): Promise<HttpReply> => move(context, 'withdraw')

type Operation = Parameters<HttpContext['services']['registry']['move']>[2]

async function move(context: HttpContext, operation: Exclude<Operation, 'reject' | 'comment'>): Promise<HttpReply> {
  const name = nameInPath(context)
  const { release_id, comment = null } = checkShape(moveBodySchema, await context.readObject())
  refuseCredential('comment', comment ?? '')
  return moved(context, name, release_id, operation, comment)
}

export async function reject(context: HttpContext): Promise<HttpReply> {
  const name = nameInPath(context)
  const { release_id, reason } = checkShape(rejectBodySchema, await context.readObject())
  refuseCredential('reason', reason)
  return moved(context, name, release_id, 'reject', reason)
}

export async function commentOn(context: HttpContext): Promise<HttpReply> {
  const name = nameInPath(context)
  const { release_id, comment } = checkShape(commentBodySchema, await context.readObject())
  refuseCredential('comment', comment)
  return moved(context, name, release_id, 'comment', comment)
}

async function moved(context: HttpContext, name: string, target: string, operation: Operation, words: string | null): Promise<HttpReply> {
  const { registry } = context.services
  const before = await registry.use(name, async (scenario) => ({ release_id: scenario.head().release_id, step: scenario.history.step }))
  const { head, step, behind } = await registry.move(name, target, operation, { words, by: actorOf(context).by })
  const { release_id, content_id } = head
  // What was so already made no row.
  if (step > before.step)
    await noteChange(context, {
      scenario: name,
      target,
      before: { release_id: before.release_id },
      after: { release_id, step, ...(words !== null && { comment: words }) },
    })
  return json({ scenario: name, release_id, content_id, step, ...(behind !== undefined && { gateways_behind: behind }) } satisfies Head)
}
