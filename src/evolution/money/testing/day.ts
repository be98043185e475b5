/** When the spenders of a test spend, and how much. */
export const NOON = Date.UTC(2026, 4, 4, 12)
export const TOKENS_PER_CALL = 100
