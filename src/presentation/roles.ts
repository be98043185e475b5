/** What a role lets its holder do, in words. */
import { RIGHT_SENTENCES, ROLE_RIGHTS, ROLES, type Role } from '../contract/roles.ts'

export { ROLES }

/** "pulls and installs the harness that is served; follows a request for a change" */
export const roleWords = (role: Role): string =>
  role === 'admin' ? 'everything' : ROLE_RIGHTS[role].map((right) => RIGHT_SENTENCES[right]).join('; ')
