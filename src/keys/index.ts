/**
 * Keys: makes, rotates and reads the deployment's key, and signs releases and install scripts with it.
 * Does not know HTTP, and decides nothing about what is released.
 */
export { checkKey, rotateShownKey, showKey, type ShownKey } from './show.ts'
export { openSigner, type DeploymentSigner } from './signer.ts'
export type { SharedPlace } from './shared-key.ts'
