/** A report about a session, for clients that cannot read receipts: the receipts of its exchanges are looked up and stored with it. */
import { HEADER, invalid, SESSION_REFERENCES_MAX, SESSION_TAG, type ScenarioStore } from '../contract/index.ts'
import { cutOut, joined } from '../kit/index.ts'
import type { AboutSession, RecordDraft } from './draft.ts'

const PLACE = 'references_to'

export async function quoteSession({ about, ...draft }: RecordDraft, store: Pick<ScenarioStore, 'get' | 'records'>): Promise<RecordDraft> {
  if (about === undefined) return draft
  const references = (await receiptsStored(draft.agent_record_id, store)) ?? (await receiptsOf(about, store))
  const text = Buffer.from(draft.payload)
  return { ...draft, references, payload: joined(text, cutOut(text, []), new Map([['references', JSON.stringify(references)]])) }
}

/** A resend of a stored report keeps its receipts: the session may have gone on since. */
async function receiptsStored(id: string | null, store: Pick<ScenarioStore, 'get'>): Promise<readonly string[] | null> {
  const stored = id === null ? null : await store.get(id)
  return stored?.request_type === 'report' ? stored.references : null
}

async function receiptsOf({ session, which = 'all' }: AboutSession, store: Pick<ScenarioStore, 'records'>): Promise<readonly string[]> {
  const page = which === 'latest' ? { before: Number.MAX_SAFE_INTEGER, limit: 1 } : { after: 0, limit: SESSION_REFERENCES_MAX + 1 }
  const rows = await store.records({ ...page, session })
  if (rows.length === 0) throw noExchange()
  if (rows.length > SESSION_REFERENCES_MAX)
    throw invalid(
      'invalid_field',
      `${PLACE}: the session has more than ${SESSION_REFERENCES_MAX} exchanges; send which: "latest", or references`,
    )
  return rows.map((row) => row.agent_record_id)
}

export const noExchange = (): Error =>
  invalid(
    'unknown_reference',
    `${PLACE}.session: no stored exchange of this scenario has that session; send it with the exchanges as ${HEADER.tagPrefix}${SESSION_TAG}`,
  )
