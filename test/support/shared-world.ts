/** One service for all tests of a file or a group: started before the first of them, closed after the last. */
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { world, type World, type WorldOptions } from './world.ts'

export function sharedWorld(options: WorldOptions = {}): World {
  let current: World | null = null
  beforeAll(async () => {
    current = await world(options)
  })
  afterAll(() => current?.close())
  const started = (): World => {
    if (current === null) throw new Error('the service of these tests starts with the first of them')
    return current
  }
  return {
    get address() {
      return started().address
    },
    get directory() {
      return started().directory
    },
    get upstream() {
      return started().upstream
    },
    get log() {
      return started().log
    },
    ask: (...given) => started().ask(...given),
    get: (...given) => started().get(...given),
    post: (...given) => started().post(...given),
    exchange: (...given) => started().exchange(...given),
    restart: (...given) => started().restart(...given),
    close: () => started().close(),
  }
}

/** A service of one test, closed when that is over, however it ends. */
export async function ownWorld(options: WorldOptions = {}): Promise<World> {
  const here = await world(options)
  onTestFinished(() => here.close())
  return here
}
