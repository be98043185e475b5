/**
 * Worker: takes episodes from a service, plays them, and answers, until it is told to stop.
 * Does not know what an episode is: it has players. A service has no use for it.
 */
export { FleetRefusal, work, type FleetService, type WorkerEvent } from './loop.ts'
