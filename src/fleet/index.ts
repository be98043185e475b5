/**
 * Fleet: episodes that wait for workers on other machines, and the leases of those that are played.
 * Does not know what an episode is: it hands out orders and takes results. The loop of a worker is `fleet/worker.ts`, which no service needs.
 */
export { BEAT_MS, EpisodeQueue } from './queue.ts'
