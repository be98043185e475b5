/**
 * Fleet: episodes that wait for workers on other machines, and the leases of those that are played.
 * Does not know what an episode is: it hands out orders and takes results.
 */
export { FleetRefusal, work, type FleetService, type WorkerEvent } from './worker.ts'
export { BEAT_MS, EpisodeQueue } from './queue.ts'
