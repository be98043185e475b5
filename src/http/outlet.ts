/** A response as the place where a stream's frames go. */
import type { ServerResponse } from 'node:http'
import { CLIENT_STALL_SECONDS } from '../contract/index.ts'
import type { Outlet } from '../inference/index.ts'

export function outletOf(response: ServerResponse): Outlet {
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

/** A client that stops reading holds an upstream and a scenario; after a while it is let go like one that left. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => response.destroy(), CLIENT_STALL_SECONDS * 1000)
    const onDrain = (): void => {
      clearTimeout(patience)
      response.off('close', onClose)
      resolve()
    }
    const onClose = (): void => {
      clearTimeout(patience)
      response.off('drain', onDrain)
      reject(new Error('the client closed the connection'))
    }
    response.once('drain', onDrain)
    response.once('close', onClose)
  })
}
