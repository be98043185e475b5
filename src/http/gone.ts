/** Whether the client is still there: what is done for it alone ends when it goes. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Aborts when the client goes before its answer is finished. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (response.destroyed) controller.abort()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}

/** The same for a route that answers with a value: the signal aborts when the connection closes under the work. */
export async function whileConnected<T>({ socket }: IncomingMessage, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const onClose = (): void => controller.abort()
  if (socket.destroyed) controller.abort()
  socket.once('close', onClose)
  try {
    return await work(controller.signal)
  } finally {
    socket.off('close', onClose)
  }
}
