/** A response as the place where a stream's frames go. */
import type { ServerResponse } from 'node:http'
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

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDrain = (): void => {
      response.off('close', onClose)
      resolve()
    }
    const onClose = (): void => {
      response.off('drain', onDrain)
      reject(new Error('the client closed the connection'))
    }
    response.once('drain', onDrain)
    response.once('close', onClose)
  })
}
