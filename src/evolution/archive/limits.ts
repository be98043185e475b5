/** How much of a step's record one answer of the route may hold. */
export const STEP_LISTED_ENTRIES_MAX = 1000
export const STEP_FILE_BYTES_MAX = 4 * 1024 * 1024
