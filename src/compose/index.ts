/**
 * Compose: the parts that the service and its listener threads open alike, from the configuration.
 * Does not hold what it opened.
 */
export { loaderOf, type Load } from './load.ts'
export { openContents } from './contents.ts'
export { openEvaluation } from './evaluation.ts'
export { allotLimits, keepSpent } from './limits.ts'
export { openGateway } from './gateway.ts'
export { loadRecipes } from './recipes.ts'
export { makeReload } from './reload.ts'
export { openRecorder } from './recording.ts'
export { openRuntime } from './runtime.ts'
export { watchStore } from './store-log.ts'
export { logStep } from './step-log.ts'
export { shownFacts } from './shown.ts'
export { signInProblem } from './sign-in.ts'
export { forgetIn, refuseUnfinishedCopy, storeSettings } from './store.ts'
export { openTokens } from './tokens.ts'
export { openPrices, openTracing } from './tracing.ts'
export { openConfiguredWebhooks, reopenWebhooks } from './webhooks.ts'
export { readTls } from './tls.ts'
export { clock, configuredTraffic, reconfigureThread } from './traffic.ts'
