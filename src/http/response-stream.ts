/** The client behind a response: streams wait while it is slow and end when it stops reading; work for it alone stops when it leaves. */
import type { ServerResponse } from 'node:http'
import { CLIENT_STALL_SECONDS } from '../contract/index.ts'
import type { Outlet } from '../inference/index.ts'

export function responseOutlet(response: ServerResponse): Outlet {
  return {
    write(bytes) {
      if (response.destroyed) throw new Error('the client closed the connection')
      return response.write(bytes) ? undefined : drained(response)
    },
    end: (bytes) => {
      response.end(bytes)
    },
    cut: () => {
      response.destroy()
    },
  }
}

/** A client that stops reading holds an upstream and a scenario, so its connection is closed after a while. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const stalled = setTimeout(() => response.destroy(), CLIENT_STALL_SECONDS * 1000)
    const onDrain = (): void => {
      clearTimeout(stalled)
      response.off('close', onClose)
      resolve()
    }
    const onClose = (): void => {
      clearTimeout(stalled)
      response.off('drain', onDrain)
      reject(new Error('the client closed the connection'))
    }
    response.once('drain', onDrain)
    response.once('close', onClose)
  })
}

/** Aborts when the client leaves before its answer is finished. */
export function clientSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (response.destroyed) controller.abort()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}
