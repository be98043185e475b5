/** Samples as trajectories with their numbers, and which of them are fresh enough. */
export { admitRollouts, type Admitted } from './admit.ts'
export { assembleRollout, type Assembled, type AssembleOptions } from './assemble.ts'
export { encodeRollout } from './encode.ts'
