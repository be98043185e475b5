/**
 * Pages: given what is known of a step or of a request, answers with a whole HTML page that shows it, and runs and loads nothing.
 * Does not read stores, know HTTP, or trust a word of what it shows.
 */
export { refusalPage } from './refusal.ts'
export { requestPage } from './request.ts'
export { STYLE_HASH } from './style.ts'
export { versionPage } from './version.ts'
export { playedSides } from './played.ts'
