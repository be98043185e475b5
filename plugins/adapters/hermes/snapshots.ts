/** Reads Hermes's session logs: one JSON document with all messages per session. */
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { isList, readDocuments } from '../../../src/harness/index.ts'

/** Per session its metadata, then its messages, in path order. */
export async function readSnapshots(folder: string): Promise<readonly JsonObject[]> {
  return (await readDocuments(folder)).flatMap(([path, document]) => eventsOf(path, document))
}

/** The folder also holds indexes and request dumps, which have no messages. */
function eventsOf(path: string, document: Json): readonly JsonObject[] {
  if (!isObject(document)) throw new Error(`the session ${path} is not a JSON object`)
  const { messages, ...session } = document
  if (!isList(messages)) return []
  if (!messages.every(isObject)) throw new Error(`the session ${path} has a message that is not a JSON object`)
  return [{ ...session, type: 'session' }, ...messages.map((message) => ({ ...message, type: 'message' }))]
}
