/** What Hermes left of its sessions: per session one JSON document that holds every message. */
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { isList, readDocuments } from '../../../src/harness/index.ts'

/** Per session what is known of it first, then every message, in the order of their paths. */
export async function readSnapshots(folder: string): Promise<readonly JsonObject[]> {
  return (await readDocuments(folder)).flatMap(([path, document]) => eventsOf(path, document))
}

/** An index or a dump of a request lies among them, and has no messages of its own. */
function eventsOf(path: string, document: Json): readonly JsonObject[] {
  if (!isObject(document)) throw new Error(`the session ${path} is no JSON object`)
  const { messages, ...session } = document
  if (!isList(messages)) return []
  if (!messages.every(isObject)) throw new Error(`the session ${path} has a message that is no JSON object`)
  return [{ ...session, type: 'session' }, ...messages.map((message) => ({ ...message, type: 'message' }))]
}
