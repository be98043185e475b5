/** The suites that prove a plug-in, one per kind; run over every built-in and open to anybody else's. */
export * from './contents.ts'
export * from './runtime.ts'
export * from './store.ts'
