/** Other threads of this process use the database too: each opens the store for itself, with few connections of its own. */
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { storeClosed } from '../../../src/contract/index.ts'
import type { PostgresSettings } from './settings.ts'

const JOINED_CONNECTIONS = 2

/** A port that holds the settings, for one thread. */
export function portTo(settings: PostgresSettings): MessagePort {
  const { port1: own, port2: theirs } = new MessageChannel()
  own.unref()
  own.postMessage({ ...settings, connections: JOINED_CONNECTIONS } satisfies PostgresSettings, [])
  return theirs
}

/** In the thread that joins. */
export function receiveSettings(port: MessagePort): PostgresSettings {
  const received: { readonly message: PostgresSettings } | undefined = receiveMessageOnPort(port)
  port.close()
  if (received === undefined) throw storeClosed()
  return received.message
}
