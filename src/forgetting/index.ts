/**
 * Forgetting: removes what is stored of a person by their tag, with what was made of it, and looks again for what is left.
 * Does not know how a store removes records.
 */
export { countsOf, forgetPerson, orderOf, type ForgettingNeeds } from './forget.ts'
