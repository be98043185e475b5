/** The words of tasks: what one is for, and whether one that was mined is used. */

export const TASK_ROLES = ['gate', 'train', 'regression', 'health', 'sealed'] as const
/** Accepted ones are used. */
export const TASK_STATUSES = ['proposed', 'accepted', 'dropped'] as const
