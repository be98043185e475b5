/** The records of a scenario, live: what is listed, what is new, what is on the screen and still missing. */
import { useMemo, useRef, useState } from 'preact/hooks'
import type { RecordRow, RecordSearchQuery } from '@svc-ai/client'
import { saidOf, type FailureNotice } from '../../failure.ts'
import { usePolled } from '../../poll.ts'
import { useSession, type ConsoleSession } from '../../session.ts'
import { RecordBook, type AskRecords, type PagedRecords } from './record-book.ts'
import { Scores } from './scores.ts'
import { SessionBook } from './sessions.ts'
import { foundRecords, recordsOfType, SourceBook, type FindRecords } from './source-book.ts'

export type RecordType = RecordRow['request_type']

/** Which records are listed. */
export interface TrafficChoice {
  readonly type: RecordType | null
  /** Null where nothing is searched for. */
  readonly search: RecordSearchQuery | null
  /** One row for each session. */
  readonly isGrouped: boolean
}

export type LiveTraffic = ReturnType<typeof useTraffic>

const FOLLOW_SECONDS = 1
/** How long a part of the list stays on the screen before it is asked for: a quick scroll passes thousands. */
const SETTLED_MS = 60

export function useTraffic(scenario: string, choice: TrafficChoice, isPaused: boolean) {
  const session = useSession()
  const { type } = choice
  const chosen = JSON.stringify(choice)
  const { book, scores, ask, waiting } = useMemo(() => openBook(session, scenario, choice), [session, scenario, chosen])
  const [, redraw] = useState(0)
  const [missing, setMissing] = useState<FailureNotice | null>(null)
  const view = useRef({ first: 0, end: 0, isAtTop: true, timer: 0 })

  const fill = async (): Promise<void> => {
    const { first, end } = view.current
    await book.want(first, end)
    const rows = Array.from({ length: end - first }, (_, at) => book.at(first + at)).filter((row) => row !== null)
    await scores.want(rows, ask)
  }
  const fillOrSay = async (): Promise<void> => {
    try {
      await fill()
      setMissing(null)
    } catch (error) {
      setMissing(saidOf(error))
    }
    redraw((count) => count + 1)
  }
  const polled = usePolled(
    `traffic ${scenario} ${chosen}`,
    async () => {
      if (isPaused) return book.count
      await book.follow()
      // Under a filter reports do not come with the exchanges that they quote.
      if (type === 'inference') await ask({ request_type: 'report', order: 'newest', limit: 20 })
      if (view.current.isAtTop) book.showUnseen()
      await fill()
      // What a scroll asked for in vain is there now.
      setMissing(null)
      return book.count
    },
    isPaused ? null : FOLLOW_SECONDS,
  )
  return {
    book,
    scores,
    /** How many records a search cannot find yet. */
    waiting: waiting(),
    /** Whether anything is known yet. */
    isOpen: polled.value !== null,
    said: polled.said ?? missing,
    onWindow: (first: number, end: number): void => {
      clearTimeout(view.current.timer)
      view.current = { ...view.current, first, end, timer: window.setTimeout(() => void fillOrSay(), SETTLED_MS) }
    },
    onTop: (isAtTop: boolean): void => {
      view.current.isAtTop = isAtTop
    },
    showUnseen: (): void => {
      book.showUnseen()
      redraw((count) => count + 1)
    },
  }
}

function openBook({ service }: ConsoleSession, scenario: string, choice: TrafficChoice) {
  const scores = new Scores()
  let waiting = 0
  const ask: AskRecords = async (query) => {
    const page = await service(scenario).records({ ...query, excerpts: 'yes' })
    scores.note(page.records)
    return page
  }
  const find: FindRecords = async (query) => {
    const page = await service(scenario).search(query)
    waiting = page.waiting
    return page
  }
  return { book: bookOf(choice, ask, find), scores, ask, waiting: () => waiting }
}

function bookOf({ type, search, isGrouped }: TrafficChoice, ask: AskRecords, find: FindRecords): PagedRecords {
  if (search === null && !isGrouped) return type === null ? new RecordBook(ask) : new SourceBook(recordsOfType(ask, type))
  const kind = isGrouped ? 'inference' : type
  const found = new SourceBook(foundRecords(find, { ...search, ...(kind !== null && { request_type: kind }) }))
  return isGrouped ? new SessionBook(found) : found
}
