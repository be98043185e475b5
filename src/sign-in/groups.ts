/** Which role and which scenarios a person's groups give. */
import { ROLES, type Role } from '../contract/index.ts'

export interface GroupAccess {
  readonly role: Role
  /** Null: all of them. */
  readonly scenarios: readonly string[] | null
}

/** A list of names, or one name. A name is never split, and what is no text is no group. */
export function groupsIn(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return [claim]
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : []
}

/** The first role, in the order of the table of roles, that one of the groups gives, for the scenarios of all groups that give it. Null: none. */
export function accessOf(groups: readonly string[], known: ReadonlyMap<string, GroupAccess>): GroupAccess | null {
  const given = [...new Set(groups)].flatMap((group) => known.get(group) ?? [])
  const role = ROLES.find((each) => given.some((access) => access.role === each))
  if (role === undefined) return null
  const scenarios = given.filter((access) => access.role === role).map((access) => access.scenarios)
  return { role, scenarios: scenarios.includes(null) ? null : [...new Set(scenarios.flatMap((names) => names ?? []))] }
}
