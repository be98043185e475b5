/** A service process with the mock model, which can be restarted at the same address. */
import { onTestFinished } from 'vitest'
import { serveCommand, type Command } from '../../support/command.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { argumentsOf, dataPlaceIn, settingsOf, type Settings } from '../../support/settings.ts'

export interface Serving {
  readonly address: string
  stop(): Promise<void>
  /** Restarts on the same data with further settings. */
  start(more?: Settings): Promise<void>
}

export async function serving(settings: Settings = {}): Promise<Serving> {
  const usual = { ...settingsOf(dataPlaceIn(temporaryFolder()), 'http://127.0.0.1:1'), 'inference.runtime': 'practice', ...settings }
  let running: Command | null = null
  const start = async (more: Settings): Promise<string> => {
    const { command, address } = await serveCommand(argumentsOf({ ...usual, ...more }))
    running = command
    return address
  }
  const stop = async (): Promise<void> => {
    running?.signal('SIGTERM')
    await running?.ended
  }
  onTestFinished(stop)
  const address = await start({})
  return { address, stop, start: async (more = {}) => void (await start({ ...more, 'svc.port': Number(new URL(address).port) })) }
}
