/** Roles of tokens, and what each may do. The one table: routes name the right they need, and the tests of both are made from it. */

export const ROLES = ['admin', 'review', 'serve', 'agent', 'read', 'worker'] as const
export type Role = (typeof ROLES)[number]

export const RIGHTS = ['infer', 'report', 'import', 'pull', 'ask', 'follow', 'read', 'review', 'play', 'manage'] as const
/** What a route lets its caller do. */
export type Right = (typeof RIGHTS)[number]

/** One sentence each, for people. */
export const RIGHT_SENTENCES: Readonly<Record<Right, string>> = {
  infer: 'calls the model',
  report: 'reports on exchanges by their receipts',
  import: 'stores records that were collected elsewhere',
  pull: 'pulls and installs the harness that is served',
  ask: 'asks for a change of the harness',
  follow: 'follows a request for a change',
  read: 'reads everything but tokens and the audit: records, steps, held releases, tasks',
  review: 'promotes, rejects, rolls back, withdraws and comments on releases, replays records, and makes tasks of them',
  play: 'plays episodes that steps wait for, on a machine of its own',
  manage:
    'makes and archives scenarios and changes their settings, decides on tasks, makes tokens, and reads the audit and the configuration',
}

export const ROLE_RIGHTS: Readonly<Record<Role, readonly Right[]>> = {
  admin: RIGHTS,
  review: ['pull', 'follow', 'read', 'review'],
  serve: ['infer', 'report', 'import'],
  /** For the session of an agent on somebody's machine: no step records, no held releases, and no scenario but its own. */
  agent: ['infer', 'report', 'pull', 'ask', 'follow'],
  read: ['pull', 'follow', 'read'],
  /** For a machine that plays episodes: what it plays it is told, and it sees nothing else. */
  worker: ['play'],
}

export const hasRight = (role: Role, right: Right): boolean => ROLE_RIGHTS[role].includes(right)
