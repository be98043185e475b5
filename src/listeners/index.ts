/**
 * Listeners: threads that accept the connections, answer inference from views of scenarios, and relay everything else to the main thread.
 * Does not load, train or change a scenario.
 */
export { listenAlone } from './alone.ts'
export { openInner } from './inner.ts'
export { runListener } from './inside.ts'
export { listenersOf, listenersWanted } from './wanted.ts'
