/** Reads opencode's session log, a database of messages and parts. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'

/** Each message in order, with its parts as content; none where there is no log. */
export async function readSessions(dataFolder: string): Promise<readonly JsonObject[]> {
  const path = join(dataFolder, 'opencode/opencode.db')
  if (!existsSync(path)) return []
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return hasMessages(database) ? messagesIn(database) : []
  } finally {
    database.close()
  }
}

/** An agent killed at its start leaves a database without tables. */
function hasMessages(database: DatabaseSync): boolean {
  const { tables } = database.prepare(`SELECT count(*) AS tables FROM sqlite_master WHERE name IN ('message', 'part')`).get() ?? {}
  return tables === 2
}

function messagesIn(database: DatabaseSync): readonly JsonObject[] {
  const messages = database.prepare('SELECT id, session_id, data FROM message ORDER BY time_created, id').all()
  const parts = database.prepare('SELECT id, data FROM part WHERE message_id = ? ORDER BY id')
  return messages.map(({ id, session_id, data }) => ({
    ...objectFrom(data),
    id: String(id),
    session_id: String(session_id),
    content: parts.all(String(id)).map((part) => ({ ...objectFrom(part['data']), id: String(part['id']) })),
  }))
}

function objectFrom(text: unknown): JsonObject {
  const value: Json = JSON.parse(String(text))
  if (isObject(value)) return value
  throw new Error('a row of the session log of opencode is not a JSON object')
}
