/**
 * Sign-in: sends people to the OpenID Connect provider of the deployment, checks what comes back, and says which role their groups give them.
 * Does not know HTTP, cookies or tokens.
 */
export { accessOf, type GroupAccess } from './groups.ts'
export { SignInProvider, type SignInAttempt } from './provider.ts'
