/**
 * Inference: freeze, prepare, ask, verify, keep: one exchange, whole or streamed.
 * Does not decide which releases there are, know routes, or know where records go.
 */
export { taggedPayload, type Tags } from './payload.ts'
export { outlinedBody, Outlining, parsedBody, type Outline, type RequestBody } from './request-body.ts'
export { replay } from './replay.ts'
export { answerPieces, serve, type Call, type CallTrace, type Served, type Serving } from './serve.ts'
export { serveStream, type Outlet } from './serve-stream.ts'
export { releaseFor } from './served.ts'
export { refusalOfUpstream } from './upstream-refusal.ts'
