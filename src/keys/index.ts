/**
 * Keys: makes, rotates and reads the deployment's key, and signs releases and install scripts with it.
 * Does not know HTTP, and decides nothing about what is released.
 */
export { fingerprintIn, keyFileIn, requireKeyFile, rotateKeyFile } from './key-file.ts'
export { openSigner, type DeploymentSigner } from './signer.ts'
