/**
 * Access: makes, rotates and revokes tokens, sign-ins of people among them, and keeps those of the store at hand, also when another process changed them.
 * Does not know HTTP, and does not judge a request.
 */
export { TokenBook, type Actor, type TokenBookNeeds } from './token-book.ts'
export { steadyClock } from './steady-clock.ts'
