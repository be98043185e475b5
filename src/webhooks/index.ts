/**
 * Webhooks: tells targets of what rows say and of money that is spent, signed and at least once. The rows themselves are the queue.
 * Does not decide anything, and holds up nothing.
 */
export { WebhookDelivery, type OpenKept } from './delivery.ts'
export type { MoneySpender } from './spenders.ts'
export type { WebhookSettings } from './target.ts'
