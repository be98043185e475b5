/** Work that is done for the client alone stops when the client leaves. */
import type { ServerResponse } from 'node:http'

/** Aborts when the client leaves before its answer is finished. */
export function clientSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (response.destroyed) controller.abort()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}
